import type { VirtualItem } from '../../contract/gateway/fs.js'
import { defined } from '../../lib/defined.js'
import { isUuid } from '../../lib/ids.js'
import { FOLDER_END, foldersOpened } from '../base/folders.js'
import { joinPath } from '../base/virtual-paths.js'
import { isKept } from '../rows/permissions.js'
import { type FileEntry, type SourceKey, sourcesNamed } from '../rows/vfs/documents.js'
import { documentsInSource, placeOfDocument, sourceAfter, subtreeOf } from './documents.js'
import { cursorName, documentInFolder, mayBeNamed } from './names.js'
import {
  type After,
  type Entry,
  type EntryPage,
  integerAt,
  type Place,
  pageOf,
  placeOf,
  type Step,
  type TextUnit,
  textAt,
  type Wanted,
} from './namespace.js'
import { listFolder } from './source-folder.js'
import { fileItem, folderItem, nameOf, sourceItem, UPLOADS } from './source-items.js'
import { elementAt, type StoredTexts, textOfDocument } from './stored-text.js'
import type { View } from './view.js'

/** Raw documents by source, in the folders of their file names. */
export class Sources {
  readonly #view: View
  readonly #texts: StoredTexts

  constructor(view: View, texts: StoredTexts) {
    this.#view = view
    this.#texts = texts
  }

  async resolve(segments: readonly string[]): Promise<Place | undefined> {
    const [first, ...rest] = segments
    if (first === undefined) return this.#root()
    const source = first === UPLOADS ? null : isUuid(first) || isKept(first) ? first : await this.#named(first)
    if (source === undefined) return undefined
    const folder = rest.map((part) => part + FOLDER_END).join('')
    if ((source === null && rest.length === 0) || (await this.#holdsAny(source, folder)))
      return this.#folder(source, folder)
    const name = rest[rest.length - 1]
    if (name === undefined) return undefined
    const parent = folder.slice(0, -name.length - FOLDER_END.length)
    const row = await documentInFolder(this.#view, source, parent, name)
    return row === undefined ? undefined : this.#file(row)
  }

  #root(): Place {
    const item: VirtualItem = { kind: 'directory', name: 'sources', path: joinPath('sources', []), metadata: {} }
    return placeOf(item, {
      list: (after, limit) => this.#listSources(after, limit),
      walk: (after, wanted) => this.#walkAll(after, wanted),
      texts: (after) => this.#textsOfAll(after),
    })
  }

  /** Sources in the order of their ids, then the uploads: the sort order of their names. */
  async #listSources(after: After | undefined, limit: number): Promise<EntryPage> {
    const entries: Entry[] = []
    const last = after === undefined ? '' : textAt(after, 0)
    if (last === UPLOADS) return { entries, more: false }
    for (let source = await sourceAfter(this.#view, last); source !== undefined; ) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: await this.#view.db.read(sourceItem(this.#view, source)), after: [source] })
      source = await sourceAfter(this.#view, source)
    }
    entries.push({ item: folderItem(null, ''), after: [UPLOADS] })
    return pageOf(entries, 0, limit)
  }

  async #folder(source: string | null, folder: string): Promise<Place> {
    const item = folder === '' ? await this.#view.db.read(sourceItem(this.#view, source)) : folderItem(source, folder)
    return placeOf(item, {
      list: (after, limit) => listFolder(this.#view, source, folder, after, limit),
      walk: (after, wanted) => this.#walk(source, folder, after, wanted),
      texts: (after) => this.#textsIn(source, folder, after),
    })
  }

  async #file(row: FileEntry): Promise<Place> {
    const item = await fileItem(this.#view, row)
    return placeOf(item, {
      texts: (after) => this.#textOf(row, after),
      read: () => textOfDocument(this.#texts, row),
    })
  }

  /** The oldest source with a name that has visible documents: paths consist of ids, but people know names. */
  async #named(name: string): Promise<string | undefined> {
    for (const id of await this.#view.db.read(sourcesNamed(this.#view, name)))
      if (await this.#holdsAny(id, '')) return id
    return undefined
  }

  /** Whether a visible document exists in this folder or below. */
  async #holdsAny(source: string | null, folder: string): Promise<boolean> {
    for await (const _ of documentsInSource(this.#view, source, subtreeOf(folder))) return true
    return false
  }

  async *#walkAll(after: After | undefined, wanted?: Wanted): AsyncGenerator<Step> {
    const started = after === undefined ? undefined : textAt(after, 0)
    if (started !== UPLOADS) {
      if (started !== undefined) yield* this.#walk(started, '', after, wanted)
      for (
        let source = await sourceAfter(this.#view, started ?? '');
        source !== undefined;
        source = await sourceAfter(this.#view, source)
      ) {
        yield { item: await this.#view.db.read(sourceItem(this.#view, source)), after: [source, '', '', 0] }
        yield* this.#walk(source, '', undefined, wanted)
      }
      yield { item: folderItem(null, ''), after: [UPLOADS, '', '', 0] }
    }
    yield* this.#walk(null, '', started === UPLOADS ? after : undefined, wanted)
  }

  /**
   * Documents in order of their folders, each folder before its first document. The position of an entry is the
   * document before it and the count of folders since then.
   */
  async *#walk(source: string | null, folder: string, after: After | undefined, wanted?: Wanted): AsyncGenerator<Step> {
    const range = subtreeOf(folder)
    const start = await this.#startOf(source, after)
    let announced = after === undefined ? 0 : integerAt(after, 3)
    let previous = start === undefined ? folder : start[0]
    let place: After = start === undefined ? [nameOf(source), '', '', 0] : (after ?? [])
    let before: FileEntry | undefined
    for await (const row of documentsInSource(this.#view, source, {
      ...range,
      after: start ?? range.after,
      expect: 100,
    })) {
      for (const opened of foldersOpened(previous, row.folder).slice(announced)) {
        announced += 1
        place = [...place.slice(0, 3), announced]
        yield { item: folderItem(source, opened), after: place }
      }
      announced = 0
      previous = row.folder
      place = [nameOf(source), cursorName(row.path_name), row.id, 0]
      if (mayBeNamed(row, wanted?.namePart)) yield { item: await fileItem(this.#view, row, before), after: place }
      else yield { after: place }
      before = row
    }
  }

  async *#textsOfAll(after: After | undefined): AsyncGenerator<TextUnit> {
    const started = after === undefined ? undefined : textAt(after, 0)
    if (started !== UPLOADS) {
      if (started !== undefined) yield* this.#textsIn(started, '', after)
      for (
        let source = await sourceAfter(this.#view, started ?? '');
        source !== undefined;
        source = await sourceAfter(this.#view, source)
      )
        yield* this.#textsIn(source, '', undefined)
    }
    yield* this.#textsIn(null, '', started === UPLOADS ? after : undefined)
  }

  async *#textsIn(source: string | null, folder: string, after: After | undefined): AsyncGenerator<TextUnit> {
    const range = subtreeOf(folder)
    const start = (await this.#startOf(source, after)) ?? range.after
    for await (const row of documentsInSource(this.#view, source, { ...range, after: start, expect: 100 }))
      yield* this.#textOf(row, undefined)
  }

  async *#textOf(row: FileEntry, after: After | undefined): AsyncGenerator<TextUnit> {
    if (after !== undefined || row.version_key === null) return
    const stored = await this.#texts.load(row.version_key, false)
    if (stored === undefined) return
    yield {
      id: row.id,
      text: stored.text,
      after: [nameOf(row.source_id), cursorName(row.path_name), row.id, 0],
      describe: async (startOffset, endOffset) => {
        const { path } = await fileItem(this.#view, row)
        const element = elementAt(stored.elements, startOffset)
        return {
          kind: 'segment',
          path,
          startOffset,
          endOffset,
          segmentId: `${row.id}:${element?.id ?? `${startOffset}-${endOffset}`}`,
          metadata: {
            documentId: row.id,
            filename: row.filename,
            ...defined({ elementType: element?.type, sectionPath: element?.sectionPath }),
            ...(element?.pageNumber === undefined ? {} : { pageNumber: element.pageNumber }),
          },
        }
      },
    }
  }

  /** The document at the position of a walk's cursor; none before the first. */
  async #startOf(source: string | null, after: After | undefined): Promise<SourceKey | undefined> {
    if (after === undefined || textAt(after, 0) !== nameOf(source)) return undefined
    const id = textAt(after, 2)
    if (id === '') return undefined
    const pathName = textAt(after, 1)
    if (pathName === '') {
      const { folder, base } = await this.#view.db.read(placeOfDocument(this.#view, id))
      return [folder, base, id]
    }
    const parts = pathName.split('/')
    const base = parts.pop() ?? ''
    return [parts.map((part) => part + FOLDER_END).join(''), base, id]
  }
}
