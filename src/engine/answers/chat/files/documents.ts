import { v5 } from 'uuid'
import { ChatError } from '../../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../../contract/chat/limits.js'
import { parseLanguageSelection, selectLanguages } from '../../../../local/ocr-languages.js'
import { createDegradation, type Degradation } from '../../../base/degraded.js'
import { PassageCache } from '../../../knowledge/index.js'
import type { EngineContext } from '../../../library/index.js'
import type { Compiler, PreparedDocument, PreparedNode } from '../../../store/compiled.js'
import type { Read } from '../../../store/program.js'
import { type EndUserScope, findMessagePosition } from '../../../store/rows/chat/conversations.js'
import { type ChatFileRow, listConversationDocuments } from '../../../store/rows/chat/files.js'
import type { PassageRow } from '../../../store/rows/queries.js'
import type { TurnIds } from '../frames.js'

/** Processor time for the text in pictures of a document, which its sender waits for. */
const OCR_BUDGET_MS = 30_000
/** Maximum total length of the documents in memory, in UTF-16 units. */
const MAX_KEPT_UNITS = 16 * 1024 * 1024
/** Time after its last use until a document is evicted from memory. */
const KEEP_MS = 10 * 60_000

/** The documents of a conversation, as an answer searches them. */
export interface ConversationDocuments {
  /** newest document first, its passages in reading order */
  documents: PassageRow[][]
  cache: PassageCache
  degraded: Degradation[]
}

interface KeptDocument {
  passages: Promise<PassageRow[]>
  units: number
  eviction?: NodeJS.Timeout
}

/**
 * Documents that end users send with messages. They are in no space, and no passage is stored: the reading process
 * parses a document when it is uploaded, and again after it was evicted from memory.
 */
export class UploadedDocuments {
  readonly #context: EngineContext
  readonly #compiler: Compiler
  /** By file, the longest unused first. */
  readonly #kept = new Map<string, KeptDocument>()
  readonly #cache = new PassageCache()
  #nextKey = 1

  /** @param compiler parses files for which a user waits */
  constructor(context: EngineContext, compiler: Compiler) {
    this.#context = context
    this.#compiler = compiler
  }

  /** The passages of a document. @throws ChatError `unsupported_file_type` with the reason why it cannot be read */
  async read(file: ChatFileRow): Promise<PassageRow[]> {
    const kept: KeptDocument = this.#kept.get(file.id) ?? { passages: this.#parse(file), units: 0 }
    clearTimeout(kept.eviction)
    this.#kept.delete(file.id)
    this.#kept.set(file.id, kept)
    kept.eviction = setTimeout(() => this.#kept.delete(file.id), KEEP_MS).unref()
    try {
      const passages = await kept.passages
      kept.units = passages.reduce((sum, { title, body }) => sum + title.length + body.length, 0)
      this.#evict()
      return passages
    } catch (error) {
      if (this.#kept.get(file.id) === kept) this.#kept.delete(file.id)
      throw error
    }
  }

  /** The documents that the end user sent with a message and the earlier ones of its conversation. */
  async load(endUser: EndUserScope, { messageId, conversationId }: TurnIds): Promise<ConversationDocuments> {
    const { db, log } = this.#context
    const rows = await db.read(listDocuments(endUser, messageId, conversationId))
    const documents: PassageRow[][] = []
    const degraded: Degradation[] = []
    for (const row of rows)
      try {
        documents.push(await this.read(row))
      } catch (error) {
        log.warn({ error: String(error), file: row.id }, 'a document of a conversation cannot be read')
        degraded.push(createDegradation('document', `the document ${JSON.stringify(row.name)} cannot be read now`))
      }
    return { documents, cache: this.#cache, degraded }
  }

  async #parse(file: ChatFileRow): Promise<PassageRow[]> {
    const { options, objects } = this.#context
    const { forAll, folder } = options.ocr ?? parseLanguageSelection(options.dataDir, [])
    const ocr = { languages: selectLanguages(forAll, folder), budgetMs: OCR_BUDGET_MS }
    const result = await objects.local([file.object_key], async ([local]) => {
      if (local === undefined) throw new Error('the bytes of the file are missing')
      const [compiled] = await this.#compiler.compile([
        { ...local, filename: file.name, declaredType: file.mime_type, ocr },
      ])
      return compiled
    })
    if (result === undefined) throw new Error('the reading process returned no result')
    if (!result.ok) throw createUnreadableError(result.failure.message)
    const { nodes } = result.document
    if (nodes.length > CHAT_LIMITS.passagesPerDocument)
      throw createUnreadableError(
        `${file.name} has ${nodes.length} passages, and a message takes documents of at most ${CHAT_LIMITS.passagesPerDocument}; a larger one belongs in a knowledge space of the application`,
      )
    return nodes.map((node) => toPassage(file, result.document, node, this.#nextKey++))
  }

  #evict(): void {
    let units = [...this.#kept.values()].reduce((sum, kept) => sum + kept.units, 0)
    for (const [id, kept] of this.#kept) {
      if (units <= MAX_KEPT_UNITS || this.#kept.size === 1) return
      this.#kept.delete(id)
      units -= kept.units
    }
  }
}

function* listDocuments(endUser: EndUserScope, messageId: string, conversationId: string): Read<ChatFileRow[]> {
  const position = yield* findMessagePosition(endUser, messageId)
  const limit = CHAT_LIMITS.documentsPerConversation
  return position === undefined
    ? []
    : yield* listConversationDocuments(endUser, conversationId, { last: position, limit })
}

function createUnreadableError(reason: string): ChatError {
  return new ChatError('unsupported_file_type', `The document cannot be read: ${reason}.`)
}

/** Converts a passage to the form of passages of spaces. Its document is the file; it has no row. */
function toPassage(file: ChatFileRow, document: PreparedDocument, node: PreparedNode, key: number): PassageRow {
  const { documentDate, author } = document.metadata
  return {
    key,
    // The same for all passages of a file; no stored document has a negative key.
    doc_key: -key + node.ordinal,
    id: v5(String(node.ordinal), file.id),
    title: node.title,
    body: node.text,
    section: node.section,
    start_offset: node.startOffset,
    end_offset: node.endOffset,
    page: node.pageNumber ?? null,
    kind: node.kind,
    shows: null,
    ordinal: node.ordinal,
    document_id: file.id,
    filename: file.name,
    document_title: document.title,
    version: 1,
    artifact_hash: document.artifactHash,
    published_at: file.created_at,
    document_date: typeof documentDate === 'string' ? documentDate : null,
    author: typeof author === 'string' ? author : null,
    source_id: null,
    source_url: null,
    external: 0,
    ocr_pages: null,
    transcript_by: null,
  }
}
