/** A response in JSON that may be long: its text is generated while it is sent, and never complete in memory. */
export interface JsonBody<T> {
  /** the complete text if it is short */
  buffered: Buffer | undefined
  pieces(): AsyncIterable<Uint8Array>
  /** The parsed response: only for one that is known to be short. */
  value(): Promise<T>
}

/** Maximum size of a response that is buffered; a longer one is generated again while it is sent. */
const MAX_BUFFERED_BYTES = 1024 * 1024
/** Approximate size of a piece. */
const PIECE_BYTES = 64 * 1024

/**
 * Makes a response from parts of its JSON. All parts are generated once before this resolves, so that unreadable data
 * fails before anything is sent.
 *
 * @param parts generates the parts again at each call
 * @throws any error of `parts`
 */
export async function createJsonBody<T>(parts: () => AsyncIterable<string | Uint8Array>): Promise<JsonBody<T>> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of gatherPieces(parts())) {
    bytes += piece.length
    if (bytes > MAX_BUFFERED_BYTES) pieces = []
    else pieces.push(piece)
  }
  const buffered = bytes > MAX_BUFFERED_BYTES ? undefined : Buffer.concat(pieces)
  return {
    buffered,
    pieces: () => gatherPieces(parts()),
    async value() {
      if (buffered !== undefined) return JSON.parse(buffered.toString('utf8'))
      const all: Uint8Array[] = []
      for await (const piece of gatherPieces(parts())) all.push(piece)
      return JSON.parse(Buffer.concat(all).toString('utf8'))
    },
  }
}

/** The JSON of an object with an additional list whose members are streamed. @param head has at least one field */
export function streamObjectWithList(
  head: object,
  name: string,
  members: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  return streamObjectWithMembers(head, name, separateByCommas(members))
}

/** Like `streamObjectWithList`, for members that include their commas. */
export async function* streamObjectWithMembers(
  head: object,
  name: string,
  members: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  yield `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`
  yield* members
  yield ']}'
}

async function* separateByCommas(members: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  let isFirst = true
  for await (const member of members) {
    if (!isFirst) yield ','
    isFirst = false
    yield member
  }
}

async function* gatherPieces(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = []
  let bytes = 0
  for await (const part of parts) {
    const piece = typeof part === 'string' ? Buffer.from(part) : part
    pending.push(piece)
    bytes += piece.length
    if (bytes < PIECE_BYTES) continue
    yield Buffer.concat(pending)
    pending = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pending)
}
