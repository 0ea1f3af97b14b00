import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { KsError } from '../../../contract/errors.js'
import type { ReadClock } from '../../base/clock.js'
import { compareNames, toSectionName } from '../../base/virtual-paths.js'
import { readStoredSections } from '../../readers/index.js'
import type { CompiledOutlineNode } from '../../store/compiled.js'
import type { Driver } from '../../store/driver.js'
import { isDamaged } from '../../store/guarded-rows.js'
import { findOutlineBytes, listNodeEntriesAfter, type NodeEntry } from '../rows/vfs/passages.js'
import { shortenId } from './names.js'

/** A section of a document as a folder. */
export interface SectionFolder {
  name: string
  /** names from the document's folder down to this one */
  path: readonly string[]
  /** undefined for the document itself */
  section?: CompiledOutlineNode
  /** by name */
  branches: SectionFolder[]
  /** by name */
  leaves: PassageFile[]
}

/** A passage as a file. */
export interface PassageFile {
  name: string
  path: readonly string[]
  node: NodeEntry
}

export interface DocumentTree {
  root: SectionFolder
  /** all entries below the root, folder by folder, in order of names */
  entries: (SectionFolder | PassageFile)[]
  passageByOrdinal: ReadonlyMap<number, PassageFile>
}

/** maximum number of entries in all cached trees; one takes some hundred bytes */
const MAX_CACHED_ENTRIES = 100_000
/** rows of one slice */
const NODES_PER_SLICE = 1000
const MIN_ORDINAL_DIGITS = 4

/** Caches the folder trees of document versions: sections as folders, passages as files. Versions never change. */
export class DocumentTrees {
  readonly #db: Driver
  readonly #cache = new LRUCache<number, DocumentTree>({
    maxSize: MAX_CACHED_ENTRIES,
    sizeCalculation: ({ entries }) => entries.length + 1,
  })

  constructor(db: Driver) {
    this.#db = db
  }

  /** @returns undefined when the version was deleted */
  async load(versionKey: number, clock: ReadClock): Promise<DocumentTree | undefined> {
    const cached = this.#cache.get(versionKey)
    if (cached !== undefined) return cached
    const packed = await this.#db.read(findOutlineBytes(versionKey))
    if (packed === undefined) return undefined
    const outline = await readStoredSections(packed)
    const nodes: NodeEntry[] = []
    let after = -1
    for (;;) {
      const slice = await this.#db.read(listNodeEntriesAfter(versionKey, after, NODES_PER_SLICE))
      nodes.push(...slice.filter((node) => !isDamaged(node)))
      after = slice.at(-1)?.ordinal ?? after
      if (slice.length < NODES_PER_SLICE) break
      await clock.yieldIfDue()
    }
    const tree = buildDocumentTree(outline, nodes)
    this.#cache.set(versionKey, tree)
    return tree
  }
}

export function isPassageFile(entry: SectionFolder | PassageFile): entry is PassageFile {
  return 'node' in entry
}

/**
 * Converts an outline to folders. Content before the first section (`tocSource` `document`) goes into the document's
 * folder. Of siblings with one name the first keeps it, the others get `~` and 8 hex digits: of the node's id, or of
 * the hash of a section's id, which is not hexadecimal itself.
 */
export function buildDocumentTree(outline: readonly CompiledOutlineNode[], nodes: readonly NodeEntry[]): DocumentTree {
  const root: SectionFolder = { name: '', path: [], branches: [], leaves: [] }
  const folderBySection = new Map<string, SectionFolder>()
  const usedNames = new Map<SectionFolder, Set<string>>()
  const claim = (parent: SectionFolder, plain: string, id: string): string => {
    const names = usedNames.get(parent) ?? new Set()
    usedNames.set(parent, names)
    const name = [plain, `${plain}~${shortenId(id)}`, `${plain}~${id}`].find((option) => !names.has(option))
    if (name === undefined) throw new KsError('internal', 'two entries of a document have one id')
    names.add(name)
    return name
  }
  const addSections = (sections: readonly CompiledOutlineNode[], parent: SectionFolder): void => {
    for (const section of sections) {
      if (section.tocSource === 'document' && parent === root) {
        folderBySection.set(section.id, root)
        addSections(section.children, root)
        continue
      }
      const name = claim(parent, toSectionName(section.title), hashSectionId(section.id))
      const branch: SectionFolder = { name, path: [...parent.path, name], section, branches: [], leaves: [] }
      parent.branches.push(branch)
      folderBySection.set(section.id, branch)
      addSections(section.children, branch)
    }
  }
  addSections(outline, root)
  const digits = Math.max(MIN_ORDINAL_DIGITS, String(nodes.length).length)
  const passageByOrdinal = new Map<number, PassageFile>()
  for (const node of nodes) {
    const parent = folderBySection.get(node.outline_node) ?? root
    const name = claim(parent, String(node.ordinal + 1).padStart(digits, '0'), node.id)
    const leaf: PassageFile = { name, path: [...parent.path, name], node }
    parent.leaves.push(leaf)
    passageByOrdinal.set(node.ordinal, leaf)
  }
  sort(root)
  return { root, entries: [...flatten(root)], passageByOrdinal }
}

function hashSectionId(sectionId: string): string {
  return createHash('sha256').update(sectionId).digest('hex')
}

function sort(branch: SectionFolder): void {
  branch.branches.sort((a, b) => compareNames(a.name, b.name))
  branch.leaves.sort((a, b) => compareNames(a.name, b.name))
  for (const child of branch.branches) sort(child)
}

function* flatten(branch: SectionFolder): Generator<SectionFolder | PassageFile> {
  for (const child of branch.branches) {
    yield child
    yield* flatten(child)
  }
  yield* branch.leaves
}

/** The entry at a path within a document. */
export function findInTree(tree: DocumentTree, path: readonly string[]): SectionFolder | PassageFile | undefined {
  let folder: SectionFolder = tree.root
  for (const [index, name] of path.entries()) {
    const branch = folder.branches.find((child) => child.name === name)
    if (branch !== undefined) folder = branch
    else return index === path.length - 1 ? folder.leaves.find((child) => child.name === name) : undefined
  }
  return folder
}
