import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import type { SemanticReadiness } from '../../../../src/engine/files/vfs/semantic.js'
import { createFileSystem, type FileSystemReader } from '../../../../src/engine/files/vfs/vfs.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import type { CompiledElement, CompiledOutlineNode } from '../../../../src/engine/store/compiled.js'
import { Database } from '../../../../src/engine/store/database.js'
import { hashNode } from '../../../../src/engine/store/node-hash.js'
import { pack } from '../../../../src/engine/store/packed.js'
import { sql } from '../../../../src/engine/store/program.js'
import { newId } from '../../../../src/lib/ids.js'

export interface DocumentSpec {
  filename: string
  /** Sections as [title path, passage]; the text of the document consists of the titles and passages. */
  sections?: [string[], string][]
  text?: string
  sourceId?: string
  id?: string
  mimeType?: string
  metadata?: Record<string, unknown>
  /** When omitted, the document is published at the next revision. */
  state?: 'pending' | 'failed'
}

export interface AddedDocument {
  id: string
  key: number
  nodeIds: string[]
}

/** Nothing has to be brought up to date: tests write the rows directly. */
const WHOLE = () => ({ coveredDocuments: 0, totalDocuments: 0, stale: false })
const READ: SemanticReadiness = {
  derivations: { catchUp: async () => 0 },
  views: { ready: async () => {}, coverage: async () => WHOLE },
}

/** A space in a separate database, filled row by row as the compiler would. */
export class TestSpace {
  readonly db: Database
  readonly fs: FileSystemReader
  readonly caller: Caller = { tenant: 'acme', subject: 'ada' }
  readonly id = newId()
  readonly key: number
  readonly #folder: string

  /** @param semantic brings views and graph up to date; when omitted, they are */
  constructor(policy: Partial<typeof DEFAULT_POLICIES.consistencyPolicy> = {}, semantic = READ) {
    this.#folder = mkdtempSync(join(tmpdir(), 'ks-vfs-'))
    this.db = new Database(join(this.#folder, 'ks.db'), Date.now)
    this.fs = createFileSystem({
      db: this.db,
      objects: { bytes: (key) => readFile(join(this.#folder, key)) },
      semantic,
    })
    this.key = this.addSpace(this.id, 'acme', policy)
  }

  addSpace(id: string, tenant: string, policy: Partial<typeof DEFAULT_POLICIES.consistencyPolicy> = {}): number {
    const manifest = { ...DEFAULT_POLICIES, consistencyPolicy: { ...DEFAULT_POLICIES.consistencyPolicy, ...policy } }
    return this.db.now(
      sql.inserted(
        `INSERT INTO spaces (id, tenant, name, slug, created_at, updated_at, manifest_id, manifest, embedding_plugin,
         embedding_provider, embedding_model, vector_space, publication_id, fingerprint, published_at)
       VALUES (?, ?, 'Test', ?, 0, 0, ?, ?, 'builtin', 'lsa', 'lsa-200', ?, ?, '', 0) RETURNING key`,
        [id, tenant, id, newId(), JSON.stringify(manifest), newId(), newId()],
      ),
    )
  }

  /** Increments the head revision; rows with the returned revision become visible. */
  publish(at = Date.now()): number {
    const revision =
      (this.db.now(sql.get<{ head: number }>('SELECT head_revision head FROM spaces WHERE key = ?', [this.key]))
        ?.head ?? 0) + 1
    const id = newId()
    this.db.now(
      sql.run('UPDATE spaces SET head_revision = ?, publication_id = ?, published_at = ? WHERE key = ?', [
        revision,
        id,
        at,
        this.key,
      ]),
    )
    this.db.now(
      sql.run(
        `INSERT INTO publications (tenant, id, space_key, revision, fingerprint, created_at)
         SELECT tenant, ?, key, ?, '', ? FROM spaces WHERE key = ?`,
        [id, revision, at, this.key],
      ),
    )
    return revision
  }

  async add(spec: DocumentSpec): Promise<AddedDocument> {
    const id = spec.id ?? newId()
    const key = this.db.now(
      sql.inserted(
        `INSERT INTO documents (tenant, id, space_key, source_id, filename, mime_type, object_key, sha256, size_bytes,
         parser_status, metadata, created_at, updated_at) VALUES (
         (SELECT tenant FROM spaces WHERE key = ?), ?, ?, ?, ?, ?, 'o', 's', 7, ?, ?, 0, 0) RETURNING key`,
        [
          this.key,
          id,
          this.key,
          spec.sourceId ?? null,
          spec.filename,
          spec.mimeType ?? 'text/plain',
          spec.state ?? 'parsed',
          JSON.stringify(spec.metadata ?? {}),
        ],
      ),
    )
    const nodeIds = spec.state === undefined ? await this.addVersion(key, spec, 1, this.publish()) : []
    return { id, key, nodeIds }
  }

  /** Adds a version that replaces the previous one from a revision on. */
  async addVersion(docKey: number, spec: DocumentSpec, version: number, revision: number): Promise<string[]> {
    const { text, elements, outline, nodes } = compiled(spec)
    this.db.now(
      sql.run('UPDATE versions SET until_revision = ? WHERE doc_key = ? AND until_revision IS NULL', [
        revision,
        docKey,
      ]),
    )
    const versionKey = this.db.now(
      sql.inserted(
        `INSERT INTO versions (doc_key, space_key, version, from_revision, node_count, artifact_id, artifact_hash,
         content_type, parser, outline_id, items_id, created_at, title, metadata, outline, items, artifact)
       VALUES (?, ?, ?, ?, ?, 'a', 'h', 'text', 'native-markdown', 'o', 'i', 0, 'Title', '{}', ?, ?, ?) RETURNING key`,
        [
          docKey,
          this.key,
          version,
          revision,
          nodes.length,
          await pack(outline),
          await pack([]),
          await pack({ text, elements }),
        ],
      ),
    )
    return nodes.map((node, ordinal) => {
      const nodeId = newId()
      this.db.now(
        sql.run(
          `INSERT INTO nodes (id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
           start_offset, end_offset, kind, row_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?, 'text', ?)`,
          [
            nodeId,
            this.key,
            docKey,
            versionKey,
            ordinal,
            node.section.at(-1) ?? '',
            text.slice(node.start, node.end),
            JSON.stringify(node.section),
            node.outlineNode,
            node.start,
            node.end,
            hashNode({
              title: node.section.at(-1) ?? '',
              text: text.slice(node.start, node.end),
              startOffset: node.start,
              endOffset: node.end,
            }),
          ],
        ),
      )
      return nodeId
    })
  }

  delete(docKey: number): void {
    this.db.now(sql.run('UPDATE documents SET deleted_at = ? WHERE key = ?', [Date.now(), docKey]))
  }

  addTrace(nodeIds: string[], owner: Partial<Caller> = {}, texts: string[] = []): string {
    const id = newId()
    const bundleId = newId()
    const { tenant, subject } = { ...this.caller, ...owner }
    const items = nodeIds.map((nodeId, index) => ({
      nodeId,
      text: texts[index] ?? `evidence ${index}`,
      score: 0.5,
      scores: { retrieval: 0.5, final: 0.5 },
      freshness: 'fresh',
      citations: [{ documentAssetId: this.#documentOf(nodeId), documentVersion: 1, sectionPath: [], startOffset: 100 }],
      conflicts: [],
      metadata: {},
    }))
    this.db.now(
      sql.run(
        `INSERT INTO traces (id, tenant, space_key, subject, query, mode, requested_mode, completed, bundle_id, steps,
         created_at) VALUES (?, ?, ?, ?, 'why', 'fast', 'fast', 1, ?, '[]', 0)`,
        [id, tenant, this.key, subject, bundleId],
      ),
    )
    this.db.now(
      sql.run(
        'INSERT INTO evidence_bundles (id, tenant, space_key, trace_id, body, created_at) VALUES (?, ?, ?, ?, ?, 0)',
        [bundleId, tenant, this.key, id, JSON.stringify({ id: bundleId, items, missingEvidence: [] })],
      ),
    )
    return id
  }

  #documentOf(nodeId: string): string | undefined {
    return this.db.now(
      sql.get<{ id: string }>('SELECT d.id FROM nodes n JOIN documents d ON d.key = n.doc_key WHERE n.id = ?', [
        nodeId,
      ]),
    )?.id
  }

  async close(): Promise<void> {
    await this.db.close()
    removeFolder(this.#folder)
  }
}

interface Compiled {
  text: string
  elements: CompiledElement[]
  outline: CompiledOutlineNode[]
  nodes: { section: string[]; outlineNode: string; start: number; end: number }[]
}

/** One heading and one passage per section; passages without a title path come before all sections. */
function compiled({ filename, sections, text: plain }: DocumentSpec): Compiled {
  const parts: string[] = []
  const result: Compiled = { text: '', elements: [], outline: [], nodes: [] }
  let length = 0
  const add = (type: CompiledElement['type'], text: string, sectionPath: string[]): { start: number; end: number } => {
    const start = length
    parts.push(text)
    length += text.length + 2
    result.elements.push({
      id: `e${result.elements.length + 1}`,
      type,
      text,
      sectionPath,
      metadata: { startOffset: start, endOffset: start + text.length },
    })
    return { start, end: start + text.length }
  }
  for (const [path, passage] of sections ?? [[[], plain ?? filename] as [string[], string]]) {
    const { id, fresh } = sectionFor(result.outline, path, filename)
    if (fresh && path.length > 0) add('heading', path.at(-1)!, path)
    if (passage !== '') result.nodes.push({ section: path, outlineNode: id, ...add('paragraph', passage, path) })
  }
  result.text = parts.join('\n\n')
  return result
}

function sectionFor(roots: CompiledOutlineNode[], path: string[], title: string): { id: string; fresh: boolean } {
  const make = (siblings: CompiledOutlineNode[], prefix: string, name: string, level: number, tocSource: string) => {
    const id = `${prefix}${siblings.length + 1}`
    const node = { id, title: name, level, tocSource, sectionPath: path, children: [], sourceElementIds: [] }
    siblings.push(node)
    return node
  }
  if (path.length === 0) {
    const known = roots.find((node) => node.tocSource === 'document')
    return { id: (known ?? make(roots, 's', title, 1, 'document')).id, fresh: known === undefined }
  }
  let siblings = roots
  let node: CompiledOutlineNode | undefined
  let fresh = false
  path.forEach((name, depth) => {
    const last = depth === path.length - 1
    const known = last ? undefined : siblings.findLast((sibling) => sibling.title === name)
    fresh = known === undefined
    node = known ?? make(siblings, node === undefined ? 's' : `${node.id}.`, name, depth + 1, 'heading')
    siblings = node.children
  })
  return { id: node!.id, fresh }
}
