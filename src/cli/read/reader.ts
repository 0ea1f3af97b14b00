import type {
  CompiledElement,
  CompiledOutlineNode,
  CompileFailure,
  CompileResult,
  ReadingProgress,
} from '../../engine/parse/compiled.js'
import { type OcrLanguages, type RecognisedPage, waitsForPages } from '../../engine/parse/ocr/pages-read.js'
import type { StoredItem } from '../../engine/parse/stored.js'
import { defined } from '../../lib/defined.js'

/**
 * The one place of the command line that knows a part of the engine: its reading process. A file that belongs to no space
 * needs no engine, no data directory and no daemon, only the process in which hostile files are read
 * (docs/decisions/0066-reading-without-a-space.md).
 */

/** A file as it was read. */
export interface FileRead {
  filename: string
  title: string
  mediaType: string
  language?: string
  contentType: string
  parser: string
  metadata: Record<string, unknown>
  elements: CompiledElement[]
  outline: CompiledOutlineNode[]
  items: (StoredItem & { id: string })[]
  /** bytes of pictures, by the ids of their items */
  pictures: Map<string, Uint8Array>
}

export type Reading = { ok: true; file: FileRead } | { ok: false; failure: CompileFailure }

export interface Reader {
  /** Never throws for what a file is. @throws the signal's reason when aborted; KsError `unavailable` when no process starts */
  read(
    path: string,
    filename: string,
    languages: OcrLanguages,
    onProgress: (progress: ReadingProgress) => void,
  ): Promise<Reading>
  /** Ends the reading process, whatever it does. */
  close(): Promise<void>
}

/** Processor time for pictures of one reading, after which it goes on with another: far below what ends the process. */
const SLICE_MS = 30_000

/** Reads until no page and no picture waits any more, as the daemon does behind a publication. */
async function readWhole(once: (known: readonly RecognisedPage[]) => Promise<CompileResult>): Promise<CompileResult> {
  const known: RecognisedPage[] = []
  let result = await once(known)
  while (result.ok && waitsForPages(result.document.metadata) && result.document.recognised.length > 0) {
    known.push(...result.document.recognised)
    const next = await once(known)
    // what was read so far is better than nothing
    if (!next.ok) break
    result = next
  }
  return result
}

/** A model that listens is asked by the daemon alone, which keeps what it says. */
function unheard(filename: string): CompileFailure {
  const message = `${filename} is a recording, and \`ks read\` asks no model what is said in it: \`ks config set defaultTranscription PLUGIN/PROVIDER/MODEL --daemon\` sets one, \`ks daemon restart\` makes it known, \`ks ingest\` reads the file in a space`
  return { code: 'unsupported-type', message }
}

/** @param languagesFolder of data of languages that the user added */
export async function openReader(signal: AbortSignal, languagesFolder: string): Promise<Reader> {
  const { createCompiler } = await import('../../engine/parse/compiler.js')
  const { isRecording } = await import('../../engine/parse/recording.js')
  const { itemName } = await import('../../engine/parse/stored.js')
  const { unpack } = await import('../../engine/storage/packed.js')
  const compiler = createCompiler({ inForeground: true, languagesFolder })
  return {
    async read(path, filename, languages, onProgress) {
      const once = async (known: readonly RecognisedPage[]) => {
        const ocr = { languages, budgetMs: SLICE_MS, known }
        const listeners = { onProgress: (_place: number, progress: ReadingProgress) => onProgress(progress) }
        const [result] = await compiler.compile([{ path, filename, ocr }], signal, listeners)
        if (result === undefined) throw new Error(`nothing came of ${filename}`)
        return result
      }
      const result = await readWhole(once)
      if (!result.ok)
        return { ok: false, failure: isRecording(result.failure.mediaType) ? unheard(filename) : result.failure }
      const { title, mediaType, language, contentType, parser, metadata, ...packed } = result.document
      const { elements } = await unpack<{ elements: CompiledElement[] }>(packed.artifact)
      const outline = await unpack<CompiledOutlineNode[]>(packed.outline)
      const items = (await unpack<StoredItem[]>(packed.items)).map((item, index) => ({
        id: itemName(item, index),
        ...item,
      }))
      const pictures = new Map(packed.assets.map(({ itemId, bytes }) => [itemId, bytes]))
      const facts = { filename, title, mediaType, ...defined({ language }), contentType, parser, metadata }
      return { ok: true, file: { ...facts, elements, outline, items, pictures } }
    },
    close: () => compiler.close(),
  }
}
