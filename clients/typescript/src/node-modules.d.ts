/** The few things of Node that are used, so that no package with types is needed. */

declare module "node:fs/promises" {
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
}
declare module "node:os" {
  export function homedir(): string;
}
declare module "node:path" {
  export function join(...parts: string[]): string;
}
declare module "node:process" {
  export const env: Record<string, string | undefined>;
}
