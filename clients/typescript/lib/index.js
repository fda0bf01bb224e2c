/**
 * A client of OpenMind's loopback API.
 *
 *     const openmind = new OpenMind();
 *     const found = await openmind.search("rent increase");
 *     for await (const { event, data } of openmind.askStream("How much will the rent rise?")) …
 */
import { readEvents } from "./events.js";
import { tokenFromHome } from "./node.js";
export { openmindHome, tokenFromHome } from "./node.js";
/** Why a request was refused, or failed. */
export class OpenMindError extends Error {
    code;
    status;
    hint;
    errors;
    requestId;
    name = "OpenMindError";
    constructor(message, 
    /** Stable name of the failure. */
    code, 
    /** 0 for a stream that failed after it began. */
    status, 
    /** What a person can do next; may be empty. */
    hint, errors = [], requestId = null) {
        super(message);
        this.code = code;
        this.status = status;
        this.hint = hint;
        this.errors = errors;
        this.requestId = requestId;
    }
}
export class OpenMind {
    #baseUrl;
    #token;
    #fetch;
    constructor(options = {}) {
        this.#baseUrl = options.baseUrl ?? "http://127.0.0.1:8765";
        this.#token = options.token ?? (() => tokenFromHome());
        this.#fetch = options.fetch ?? fetch;
    }
    /** Whether the server lives. Needs no token. */
    async health(options = {}) {
        const response = await this.#reach(`${this.#baseUrl}/health`, { ...options });
        if (!response.ok)
            throw await failure(response);
        return (await response.json());
    }
    status(options = {}) {
        return this.#json("GET", "/status", undefined, options);
    }
    async providers(options = {}) {
        return (await this.#json("GET", "/providers", undefined, options)).providers;
    }
    providerStatus(options = {}) {
        return this.#json("GET", "/providers/status", undefined, options);
    }
    models(options = {}) {
        return this.#json("GET", "/models", undefined, options);
    }
    /** Load models; without keys the configured ones. */
    async loadModels(keys = null, options = {}) {
        const body = { model_keys: keys };
        return (await this.#json("POST", "/models/load", body, options)).results;
    }
    selectModels(selection, options = {}) {
        return this.#json("PUT", "/models/selection", selection, options);
    }
    async sources(options = {}) {
        return (await this.#json("GET", "/sources", undefined, options)).sources;
    }
    addSource(path, recursive = true, options = {}) {
        return this.#json("POST", "/sources", { path, recursive }, options);
    }
    /** Changes how a folder is read, and whether. */
    changeSource(sourceId, change, options = {}) {
        return this.#json("PATCH", `/sources/${encodeURIComponent(sourceId)}`, change, options);
    }
    removeSource(sourceId, options = {}) {
        return this.#json("DELETE", `/sources/${encodeURIComponent(sourceId)}`, undefined, options);
    }
    startIndex(options = {}) {
        return this.#json("POST", "/index/start", undefined, options);
    }
    indexStatus(options = {}) {
        return this.#json("GET", "/index/status", undefined, options);
    }
    pauseIndex(options = {}) {
        return this.#json("POST", "/index/pause", undefined, options);
    }
    resumeIndex(options = {}) {
        return this.#json("POST", "/index/resume", undefined, options);
    }
    stopIndex(options = {}) {
        return this.#json("POST", "/index/stop", undefined, options);
    }
    /** The job now, with every change, and when it is finished. */
    async *indexEvents(options = {}) {
        for await (const { data } of this.#events("GET", "/index/events", undefined, options))
            yield data;
    }
    search(query, options = {}) {
        const { signal, ...body } = options;
        return this.#json("POST", "/search", { query, ...body }, abortable(signal));
    }
    ask(question, options = {}) {
        const { signal, ...body } = options;
        return this.#json("POST", "/ask", { question, ...body }, abortable(signal));
    }
    /** The answer while it is written. To leave the loop, or to abort, stops the model. */
    async *askStream(question, options = {}) {
        const { signal, ...body } = options;
        for await (const found of this.#events("POST", "/ask/stream", { question, ...body }, abortable(signal))) {
            if (KNOWN.has(found.event))
                yield found;
        }
    }
    endSession(sessionId, options = {}) {
        return this.#json("DELETE", `/chat/sessions/${encodeURIComponent(sessionId)}`, undefined, options);
    }
    document(fileId, options = {}) {
        return this.#json("GET", `/documents/${encodeURIComponent(fileId)}`, undefined, options);
    }
    /** All passages of a file in reading order. */
    async *chunks(fileId, options = {}) {
        let start = 0;
        while (start !== null) {
            const path = `/documents/${encodeURIComponent(fileId)}/chunks?limit=500&start=${start}`;
            const page = await this.#json("GET", path, undefined, options);
            yield* page.chunks;
            start = page.next_start;
        }
    }
    /** All files, or those of a status or reason. */
    async *files(status, options = {}) {
        const query = new URLSearchParams({ limit: "500", ...(status === undefined ? {} : { status }) });
        for (;;) {
            const page = await this.#json("GET", `/files?${query.toString()}`, undefined, options);
            yield* page.files;
            if (page.next === null)
                return;
            query.set("after", page.next);
        }
    }
    /** Open a file in the application that the system has for it. */
    open(fileId, options = {}) {
        return this.#json("POST", "/actions/open", { file_id: fileId }, options);
    }
    async #json(method, path, body, options) {
        return (await (await this.#send(method, path, body, options)).json());
    }
    async *#events(method, path, body, options) {
        const response = await this.#send(method, path, body, options);
        if (response.body === null)
            return;
        for await (const found of readEvents(response.body)) {
            if (found.event === "error") {
                const { message, code, hint } = found.data;
                throw new OpenMindError(message, code, 0, hint, [], response.headers.get("x-request-id"));
            }
            yield found;
        }
    }
    async #send(method, path, body, options) {
        const headers = { Authorization: `Bearer ${await this.#token()}` };
        if (body !== undefined)
            headers["Content-Type"] = "application/json";
        const response = await this.#reach(`${this.#baseUrl}/api/v1${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            ...options,
        });
        if (!response.ok)
            throw await failure(response);
        return response;
    }
    async #reach(url, request) {
        try {
            return await this.#fetch(url, request);
        }
        catch (error) {
            if (request.signal?.aborted)
                throw error;
            const hint = "`openmind serve` starts it; `baseUrl` says where it is.";
            throw new OpenMindError(`Nothing answers at ${this.#baseUrl}`, "server.unreachable", 0, hint);
        }
    }
}
const KNOWN = new Set(["meta", "delta", "reasoning", "sources", "done"]);
function abortable(signal) {
    return signal === undefined ? {} : { signal };
}
async function failure(response) {
    const id = response.headers.get("x-request-id");
    try {
        const { detail, code, hint, errors } = (await response.json());
        return new OpenMindError(detail, code, response.status, hint, errors ?? [], id);
    }
    catch {
        return new OpenMindError(`HTTP ${response.status}`, `http.${response.status}`, response.status, "", [], id);
    }
}
