import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { Clock } from '../base/clock.js'
import { compareNames, sectionName } from '../base/virtual-paths.js'
import type { CompiledOutlineNode } from '../parse/compiled.js'
import { storedSections } from '../parse/read-stored.js'
import { type NodeEntry, nodesAfter, storedOutline } from '../rows/vfs/passages.js'
import type { Driver } from '../storage/driver.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { shortId } from './names.js'

/** A section of a document as a folder. */
export interface Branch {
  name: string
  /** names from the document's folder down to this one */
  path: readonly string[]
  /** undefined for the document itself */
  section?: CompiledOutlineNode
  /** by name */
  branches: Branch[]
  /** by name */
  leaves: Leaf[]
}

/** A passage as a file. */
export interface Leaf {
  name: string
  path: readonly string[]
  node: NodeEntry
}

export interface DocumentTree {
  root: Branch
  /** all entries below the root, folder by folder, in order of names */
  entries: (Branch | Leaf)[]
  leafOf: ReadonlyMap<number, Leaf>
}

/** maximum number of entries in all cached trees; one takes some hundred bytes */
const KEPT_ENTRIES = 100_000
/** rows of one slice */
const NODES_PER_SLICE = 1000
const MIN_ORDINAL_DIGITS = 4

/** Caches the folder trees of document versions: sections as folders, passages as files. Versions never change. */
export class DocumentTrees {
  readonly #db: Driver
  readonly #kept = new LRUCache<number, DocumentTree>({
    maxSize: KEPT_ENTRIES,
    sizeCalculation: ({ entries }) => entries.length + 1,
  })

  constructor(db: Driver) {
    this.#db = db
  }

  /** @returns undefined when the version was deleted */
  async of(versionKey: number, clock: Clock): Promise<DocumentTree | undefined> {
    const known = this.#kept.get(versionKey)
    if (known !== undefined) return known
    const packed = await this.#db.read(storedOutline(versionKey))
    if (packed === undefined) return undefined
    const outline = await storedSections(packed)
    const nodes: NodeEntry[] = []
    let after = -1
    for (;;) {
      const slice = await this.#db.read(nodesAfter(versionKey, after, NODES_PER_SLICE))
      nodes.push(...slice.filter((node) => !isDamaged(node)))
      after = slice.at(-1)?.ordinal ?? after
      if (slice.length < NODES_PER_SLICE) break
      await clock.turn()
    }
    const tree = layOut(outline, nodes)
    this.#kept.set(versionKey, tree)
    return tree
  }
}

export function isLeaf(entry: Branch | Leaf): entry is Leaf {
  return 'node' in entry
}

/**
 * Converts an outline to folders. Content before the first section (`tocSource` `document`) goes into the document's
 * folder. Of siblings with one name the first keeps it, the others get `~` and 8 hex digits: of the node's id, or of
 * the hash of a section's id, which is not hexadecimal itself.
 */
export function layOut(outline: readonly CompiledOutlineNode[], nodes: readonly NodeEntry[]): DocumentTree {
  const root: Branch = { name: '', path: [], branches: [], leaves: [] }
  const branchOf = new Map<string, Branch>()
  const taken = new Map<Branch, Set<string>>()
  const claim = (parent: Branch, plain: string, id: string): string => {
    const names = taken.get(parent) ?? new Set()
    taken.set(parent, names)
    const name = [plain, `${plain}~${shortId(id)}`, `${plain}~${id}`].find((option) => !names.has(option))
    if (name === undefined) throw new KsError('internal', 'two entries of a document have one id')
    names.add(name)
    return name
  }
  const addSections = (sections: readonly CompiledOutlineNode[], parent: Branch): void => {
    for (const section of sections) {
      if (section.tocSource === 'document' && parent === root) {
        branchOf.set(section.id, root)
        addSections(section.children, root)
        continue
      }
      const name = claim(parent, sectionName(section.title), hexOf(section.id))
      const branch: Branch = { name, path: [...parent.path, name], section, branches: [], leaves: [] }
      parent.branches.push(branch)
      branchOf.set(section.id, branch)
      addSections(section.children, branch)
    }
  }
  addSections(outline, root)
  const digits = Math.max(MIN_ORDINAL_DIGITS, String(nodes.length).length)
  const leafOf = new Map<number, Leaf>()
  for (const node of nodes) {
    const parent = branchOf.get(node.outline_node) ?? root
    const name = claim(parent, String(node.ordinal + 1).padStart(digits, '0'), node.id)
    const leaf: Leaf = { name, path: [...parent.path, name], node }
    parent.leaves.push(leaf)
    leafOf.set(node.ordinal, leaf)
  }
  sort(root)
  return { root, entries: [...flatten(root)], leafOf }
}

function hexOf(sectionId: string): string {
  return createHash('sha256').update(sectionId).digest('hex')
}

function sort(branch: Branch): void {
  branch.branches.sort((a, b) => compareNames(a.name, b.name))
  branch.leaves.sort((a, b) => compareNames(a.name, b.name))
  for (const child of branch.branches) sort(child)
}

function* flatten(branch: Branch): Generator<Branch | Leaf> {
  for (const child of branch.branches) {
    yield child
    yield* flatten(child)
  }
  yield* branch.leaves
}

/** The entry at a path within a document. */
export function findInTree(tree: DocumentTree, path: readonly string[]): Branch | Leaf | undefined {
  let at: Branch = tree.root
  for (const [index, name] of path.entries()) {
    const branch = at.branches.find((child) => child.name === name)
    if (branch !== undefined) at = branch
    else return index === path.length - 1 ? at.leaves.find((child) => child.name === name) : undefined
  }
  return at
}
