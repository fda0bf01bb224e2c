/** The token, as the server keeps it on this machine. */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";

/** OpenMind's folder: `$OPENMIND_HOME`, else `~/.openmind`. */
export function openmindHome(): string {
  return env["OPENMIND_HOME"]?.trim() || join(homedir(), ".openmind");
}

/** Reads the token anew each time, since it may have been rotated. */
export async function tokenFromHome(home: string = openmindHome()): Promise<string> {
  return (await readFile(join(home, "api_token"), "utf8")).trim();
}
