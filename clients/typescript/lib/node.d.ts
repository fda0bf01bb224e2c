/** The token, as the server keeps it on this machine. */
/** OpenMind's folder: `$OPENMIND_HOME`, else `~/.openmind`. */
export declare function openmindHome(): string;
/** Reads the token anew each time, since it may have been rotated. */
export declare function tokenFromHome(home?: string): Promise<string>;
