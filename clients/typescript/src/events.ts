/** Server-sent events out of the body of a response. */

export interface ServerEvent {
  event: string;
  data: unknown;
}

/** Read events as they come. Comments, which only keep the connection awake, are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      text += done ? decoder.decode() : decoder.decode(value, { stream: true });
      let end: number;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const found = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (found) yield found;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // whoever stops reading stops the model
  }
}

function parse(block: string): ServerEvent | undefined {
  let event = "message";
  let data: string | undefined;
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data = line.slice(6);
  }
  return data === undefined ? undefined : { event, data: JSON.parse(data) as unknown };
}
