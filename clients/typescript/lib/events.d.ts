/** Server-sent events out of the body of a response. */
export interface ServerEvent {
    event: string;
    data: unknown;
}
/** Read events as they come. Comments, which only keep the connection awake, are left out. */
export declare function readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined>;
