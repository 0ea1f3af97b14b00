import type { StoredItem } from '../../engine/readers/stored-parts.js'
import type {
  CompiledElement,
  CompiledOutlineNode,
  CompileFailure,
  CompileResult,
  ReadingProgress,
} from '../../engine/store/compiled.js'
import { hasPendingPages, type OcrLanguages, type RecognisedPage } from '../../engine/store/recognised-pages.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

/**
 * The only CLI module that uses a part of the engine: its reader process. A file without a space needs no engine, data
 * directory or daemon, only the process that reads untrusted files (docs/decisions/0066-reading-without-a-space.md).
 */

/** The content of a file. */
export interface FileContent {
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
  /** Bytes of pictures by item id. */
  pictures: Map<string, Uint8Array>
}

export type LocalReadResult = { ok: true; file: FileContent } | { ok: false; failure: CompileFailure }

export interface LocalFileReader {
  /**
   * Reads a file; a file that cannot be read is a failed result, not an error.
   *
   * @param filename determines the format
   * @throws the signal's reason if aborted; KsError `unavailable` if no process starts
   */
  read(
    path: string,
    filename: string,
    languages: OcrLanguages,
    onProgress: (progress: ReadingProgress) => void,
  ): Promise<LocalReadResult>
  /** Ends the reader process at once. */
  close(): Promise<void>
}

/** Processor time for pictures in one pass; the next pass continues. Far below the limit that kills the process. */
const PICTURE_BUDGET_MS = 30_000

/** Repeats passes until no page or picture is waiting, as the daemon does after a publication. */
async function readAllPages(
  readOnce: (recognised: readonly RecognisedPage[]) => Promise<CompileResult>,
): Promise<CompileResult> {
  const recognised: RecognisedPage[] = []
  let result = await readOnce(recognised)
  while (result.ok && hasPendingPages(result.document.metadata) && result.document.recognised.length > 0) {
    recognised.push(...result.document.recognised)
    const next = await readOnce(recognised)
    // A partial result is better than none.
    if (!next.ok) break
    result = next
  }
  return result
}

/** Only the daemon calls transcription models, since it stores their results. */
function toRecordingFailure(filename: string): CompileFailure {
  const message = `${filename} is a recording, which \`ks read\` does not transcribe: \`ks config defaultTranscription PLUGIN/PROVIDER/MODEL --daemon\` sets a model, \`ks daemon restart\` applies it, \`ks ingest\` transcribes the file in a space`
  return { code: 'unsupported-type', message }
}

/** Opens a reader, which starts its process at the first file. @param languagesFolder recognition data of the user */
export async function openReader(signal: AbortSignal, languagesFolder: string): Promise<LocalFileReader> {
  const { createCompiler } = await import('../../engine/readers/compiler.js')
  const { isRecording } = await import('../../engine/readers/recording.js')
  const { buildItemName } = await import('../../engine/readers/stored-parts.js')
  const { unpack } = await import('../../engine/store/packed.js')
  const compiler = createCompiler({ inForeground: true, languagesFolder })
  return {
    async read(path, filename, languages, onProgress) {
      const readOnce = async (recognised: readonly RecognisedPage[]) => {
        const ocr = { languages, budgetMs: PICTURE_BUDGET_MS, known: recognised }
        const listeners = { onProgress: (_index: number, progress: ReadingProgress) => onProgress(progress) }
        const [result] = await compiler.compile([{ path, filename, ocr }], signal, listeners)
        if (result === undefined) throw new Error(`no result for ${filename}`)
        return result
      }
      const result = await readAllPages(readOnce)
      if (!result.ok)
        return {
          ok: false,
          failure: isRecording(result.failure.mediaType) ? toRecordingFailure(filename) : result.failure,
        }
      const { title, mediaType, language, contentType, parser, metadata, ...packed } = result.document
      const { elements } = await unpack<{ elements: CompiledElement[] }>(packed.artifact)
      const outline = await unpack<CompiledOutlineNode[]>(packed.outline)
      const items = (await unpack<StoredItem[]>(packed.items)).map((item, index) => ({
        id: buildItemName(item, index),
        ...item,
      }))
      const pictures = new Map(packed.assets.map(({ itemId, bytes }) => [itemId, bytes]))
      const facts = { filename, title, mediaType, ...omitUndefined({ language }), contentType, parser, metadata }
      return { ok: true, file: { ...facts, elements, outline, items, pictures } }
    },
    close: () => compiler.close(),
  }
}
