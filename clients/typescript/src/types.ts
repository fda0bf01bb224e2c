/** What the API answers. Answers may have more fields than these. */

export interface Health {
  status: "ok";
  version: string;
}

export type JobState =
  | "idle"
  | "pending"
  | "discovering"
  | "running"
  | "pause_requested"
  | "paused"
  | "stop_requested"
  | "stopped"
  | "completed"
  | "failed";

export interface Job {
  job_id: string | null;
  state: JobState;
  total_files: number;
  processed_files: number;
  indexed_files: number;
  skipped_files: number;
  already_indexed_files: number;
  failed_files: number;
  chunks_created: number;
  current_file: string | null;
  error: string | null;
  progress: number;
  started_at: string | null;
  completed_at: string | null;
  updated_at: string | null;
  moved_files: number;
  removed_files: number;
  waiting_deletions: number;
  vectors_wanted: number;
  vectors_made: number;
}

export interface Status {
  status: "ready";
  version: string;
  provider: string | null;
  chat_model: string | null;
  embedding_model: string | null;
  image_model: string | null;
  sources: number;
  indexed_files: number;
  indexed_chunks: number;
  indexing_state: JobState;
  last_index_job_status: JobState | null;
  watcher_state: string;
  queued_watch_jobs: number;
  home: string;
  files: number;
  files_by_reason: Record<string, number>;
  /** Files of kinds that nothing reads, by extension, and what is no file (`link`, `pipe`, …), as the last run found them. */
  unread_kinds: Record<string, number>;
  missing_vectors: number;
  waiting_deletions: number;
  missing_sources: string[];
  disabled_sources: string[];
  last_run: Job | null;
  text_bytes: number;
  disk_bytes: number;
  rebuilding: string;
  broken_plugins: string[];
  /** The model whose vectors are searched; another one than is chosen while a change is not complete. */
  embedding_model_in_use: string | null;
  /** What stands in the way of the configured models. */
  trouble: string | null;
}

export interface Provider {
  name: string;
  display_name: string;
  configured: boolean;
}

export interface ProviderStatus {
  provider: string;
  reachable: boolean;
  message: string;
  notices: string[];
}

export interface Model {
  key: string;
  name: string;
  type: "llm" | "embedding";
  loaded: boolean;
  supports_images: boolean;
  max_context_length: number | null;
  quantization: string | null;
}

export interface Models {
  provider: string;
  chat_models: Model[];
  embedding_models: Model[];
  image_models: Model[];
}

export interface ModelAction {
  model: string;
  status: string;
  skipped: boolean;
}

export interface Selection {
  embedding_model: string;
  chat_model?: string | null;
  image_model?: string | null;
  load?: boolean;
}

export interface SelectionResult {
  provider: string;
  chat_model: string | null;
  embedding_model: string;
  image_model: string | null;
  unload_results: ModelAction[];
  load_results: ModelAction[];
  index_job: Job | null;
}

export interface Source {
  id: string;
  path: string;
  recursive: boolean;
  enabled: boolean;
  created_at: string;
  kind: string;
  ocr: boolean;
  code: boolean;
}

/** What is not said stays as it is. */
export interface SourceChange {
  enabled?: boolean;
  ocr?: boolean;
  code?: boolean;
}

export interface Removal {
  source_id: string;
  source_path: string;
  files_removed: number;
  chunks_removed: number;
  user_files_deleted: false;
}

export interface Place {
  kind: string;
  start: number | null;
  end: number | null;
  label: string;
}

export interface Explanation {
  words_rank: number | null;
  words_score: number | null;
  vector_rank: number | null;
  cosine: number | null;
  coverage: number;
}

export interface Hit {
  id: string;
  file_id: string;
  source_id: string;
  score: number;
  source_type: string;
  path: string;
  file_name: string;
  title: string;
  snippet: string;
  chunk_index: number;
  metadata: Record<string, unknown>;
  location: string;
  locator: Place[];
  marks: [number, number][];
  also_at: string[];
  explanation?: Explanation;
}

export interface Filters {
  sources?: string[];
  folder?: string | null;
  extensions?: string[];
  modified_after?: string | null;
  modified_before?: string | null;
}

export interface SearchOptions extends Filters {
  limit?: number;
  per_file?: number;
  explain?: boolean;
}

export interface SearchResult {
  query: string;
  state: "ok" | "nothing_indexed" | "nothing_found" | "filtered_out" | "unreadable";
  degraded: boolean;
  degraded_reason: string;
  results: Hit[];
}

export interface AskOptions extends Filters {
  limit?: number;
  include_sources?: boolean;
  reasoning?: boolean;
  session_id?: string | null;
}

export type AnswerState =
  | "answered"
  | "not_in_files"
  | "nothing_indexed"
  | "evidence_only"
  | "incomplete"
  | "provider_failed"
  | "unreadable";

export interface Answer {
  format: "markdown";
  session_id: string;
  answer: string;
  sources: Hit[];
  reasoning: string | null;
  state: AnswerState;
  citations: number[];
  /** Numbers that the model cited although there is no such source; they are not in the text. */
  unknown_citations: number[];
  degraded: boolean;
  degraded_reason: string;
  error: string | null;
}

export interface AnswerEnd {
  session_id: string;
  state: AnswerState;
  answer: string;
  citations: number[];
  /** Numbers that the model cited although there is no such source; they are not in the text. */
  unknown_citations: number[];
  degraded: boolean;
  degraded_reason: string;
}

/** What a streamed answer is made of; `error` comes as an exception. */
export type AnswerEvent =
  | { event: "meta"; data: { format: "markdown"; session_id: string; reasoning: boolean } }
  | { event: "delta"; data: { text: string } }
  | { event: "reasoning"; data: { text: string } }
  | { event: "sources"; data: { sources: Hit[] } }
  | { event: "done"; data: AnswerEnd };

export interface File {
  id: string;
  source_id: string;
  path: string;
  file_name: string;
  extension: string;
  status: "indexed" | "skipped" | "failed";
  reason: string;
  size: number;
  modified_at: number;
  indexed_at: string | null;
  error: string | null;
  hint: string | null;
}

export interface Chunk {
  id: string;
  text: string;
  chunk_index: number;
  title: string;
  metadata: Record<string, unknown>;
  location: string;
  locator: Place[];
}

export interface Chunks {
  id: string;
  total_chunks: number;
  next_start: number | null;
  chunks: Chunk[];
}

export interface Document extends File {
  total_chunks: number;
  next_start: number | null;
  chunks: Chunk[];
}

export interface Files {
  files: File[];
  next: string | null;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  hint: string;
  errors?: { path: string; message: string }[];
}
