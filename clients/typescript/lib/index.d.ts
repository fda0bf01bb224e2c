/**
 * A client of OpenMind's loopback API.
 *
 *     const openmind = new OpenMind();
 *     const found = await openmind.search("rent increase");
 *     for await (const { event, data } of openmind.askStream("How much will the rent rise?")) …
 */
import type * as api from "./types.js";
export type * from "./types.js";
export { openmindHome, tokenFromHome } from "./node.js";
export interface Options {
    /** Where the server is; `http://127.0.0.1:8765` by default. */
    baseUrl?: string;
    /** Gives the token, for each request; reads OpenMind's own file by default. */
    token?: () => string | Promise<string>;
    fetch?: typeof fetch;
}
export interface Abortable {
    signal?: AbortSignal;
}
/** Why a request was refused, or failed. */
export declare class OpenMindError extends Error {
    /** Stable name of the failure. */
    readonly code: string;
    /** 0 for a stream that failed after it began. */
    readonly status: number;
    /** What a person can do next; may be empty. */
    readonly hint: string;
    readonly errors: {
        path: string;
        message: string;
    }[];
    readonly requestId: string | null;
    readonly name = "OpenMindError";
    constructor(message: string, 
    /** Stable name of the failure. */
    code: string, 
    /** 0 for a stream that failed after it began. */
    status: number, 
    /** What a person can do next; may be empty. */
    hint: string, errors?: {
        path: string;
        message: string;
    }[], requestId?: string | null);
}
export declare class OpenMind {
    #private;
    constructor(options?: Options);
    /** Whether the server lives. Needs no token. */
    health(options?: Abortable): Promise<api.Health>;
    status(options?: Abortable): Promise<api.Status>;
    providers(options?: Abortable): Promise<api.Provider[]>;
    providerStatus(options?: Abortable): Promise<api.ProviderStatus>;
    models(options?: Abortable): Promise<api.Models>;
    /** Load models; without keys the configured ones. */
    loadModels(keys?: string[] | null, options?: Abortable): Promise<api.ModelAction[]>;
    selectModels(selection: api.Selection, options?: Abortable): Promise<api.SelectionResult>;
    sources(options?: Abortable): Promise<api.Source[]>;
    addSource(path: string, recursive?: boolean, options?: Abortable): Promise<api.Source>;
    /** Changes how a folder is read, and whether. */
    changeSource(sourceId: string, change: api.SourceChange, options?: Abortable): Promise<api.Source>;
    removeSource(sourceId: string, options?: Abortable): Promise<api.Removal>;
    startIndex(options?: Abortable): Promise<api.Job>;
    indexStatus(options?: Abortable): Promise<api.Job>;
    pauseIndex(options?: Abortable): Promise<api.Job>;
    resumeIndex(options?: Abortable): Promise<api.Job>;
    stopIndex(options?: Abortable): Promise<api.Job>;
    /** The job now, with every change, and when it is finished. */
    indexEvents(options?: Abortable): AsyncGenerator<api.Job, void, undefined>;
    search(query: string, options?: api.SearchOptions & Abortable): Promise<api.SearchResult>;
    ask(question: string, options?: api.AskOptions & Abortable): Promise<api.Answer>;
    /** The answer while it is written. To leave the loop, or to abort, stops the model. */
    askStream(question: string, options?: api.AskOptions & Abortable): AsyncGenerator<api.AnswerEvent, void, undefined>;
    endSession(sessionId: string, options?: Abortable): Promise<{
        session_id: string;
        ended: true;
    }>;
    document(fileId: string, options?: Abortable): Promise<api.Document>;
    /** All passages of a file in reading order. */
    chunks(fileId: string, options?: Abortable): AsyncGenerator<api.Chunk, void, undefined>;
    /** All files, or those of a status or reason. */
    files(status?: string, options?: Abortable): AsyncGenerator<api.File, void, undefined>;
    /** Open a file in the application that the system has for it. */
    open(fileId: string, options?: Abortable): Promise<{
        opened: true;
        file_id: string;
        path: string;
    }>;
}
