import type {
  CompiledElement,
  CompiledOutlineNode,
  CompileFailure,
  ReadingProgress,
} from '../../engine/parse/compiled.js'
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
  read(path: string, filename: string, onProgress: (progress: ReadingProgress) => void): Promise<Reading>
  /** Ends the reading process, whatever it does. */
  close(): Promise<void>
}

export async function openReader(signal: AbortSignal): Promise<Reader> {
  const { createCompiler } = await import('../../engine/parse/compiler.js')
  const { itemName } = await import('../../engine/parse/stored.js')
  const { unpack } = await import('../../engine/storage/packed.js')
  const compiler = createCompiler({ inForeground: true })
  return {
    async read(path, filename, onProgress) {
      const requests = [{ path, filename }]
      const [result] = await compiler.compile(requests, signal, { onProgress: (_, progress) => onProgress(progress) })
      if (result === undefined) throw new Error(`nothing came of ${filename}`)
      if (!result.ok) return result
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
