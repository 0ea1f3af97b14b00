import { Register, type Span } from './history.js'

/** A document that was sent: its name and bytes belong to one upload only. */
export interface SentDocument {
  filename: string
  /** occurs in its text only */
  word: string
  bytes: Buffer
  sha256: string
  /** whether it exists, by id. After a deletion the same bytes get another id */
  lives: Map<string, Register<boolean>>
  /** moment of the first upload */
  sentAt: number
  /** uploads without a response so far: an unknown id may be theirs */
  unanswered: number
}

/** A golden question, by its unique text. */
export interface SentQuestion {
  text: string
  id: string | undefined
  isThere: Register<boolean>
  tags: Register<string>
}

export interface SentSource {
  name: string
  id: string | undefined
  isThere: Register<boolean>
  title: Register<string>
  /** acknowledged versions; no two changes may create the same one */
  versions: Set<number>
}

export interface KeptSnapshot {
  id: string
  /** possible contents of each file of the workspace, by name; undefined: no file */
  files: Map<string, (string | undefined)[]>
  isThere: Register<boolean>
}

/** The model of one space. */
export class SpaceModel {
  readonly id: string
  readonly slug: string
  /** never deleted, so that some spaces remain to work on */
  readonly isKept: boolean
  readonly isThere = new Register(true)
  readonly description: Register<string>
  readonly documents = new Map<string, SentDocument>()
  /** contents of workspace files by path; undefined if there is none */
  readonly files = new Map<string, Register<string | undefined>>()
  readonly questions = new Map<string, SentQuestion>()
  readonly sources = new Map<string, SentSource>()
  readonly snapshots: KeptSnapshot[] = []
  /** ids of research tasks by their unique questions; undefined without a response */
  readonly tasks = new Map<string, string | undefined>()
  /** 0 and -1: the values of a new space */
  readonly traceDays = new Register(0)
  readonly scoreThreshold = new Register(-1)
  readonly profileRevisions = new Set<number>()

  constructor(id: string, slug: string, description: string, isKept: boolean) {
    this.id = id
    this.slug = slug
    this.isKept = isKept
    this.description = new Register(description)
  }

  file(path: string): Register<string | undefined> {
    const known = this.files.get(path) ?? new Register<string | undefined>(undefined)
    this.files.set(path, known)
    return known
  }

  /** The document of an id in a response or list. */
  documentOf(id: string): SentDocument | undefined {
    for (const document of this.documents.values()) if (document.lives.has(id)) return document
    return undefined
  }

  /** Ids to request, in an order that depends on the responses only. */
  knownIds(): string[] {
    return [...this.documents.values()].flatMap(({ lives }) => [...lives.keys()])
  }

  mayBeGone(span: Span): boolean {
    return this.isThere.allows(false, span)
  }
}

/** One tenant, with a word that is in everything it sends and must not reach other tenants. */
export class TenantModel {
  readonly name: string
  readonly marker: string
  readonly spaces: SpaceModel[] = []

  constructor(name: string, marker: string) {
    this.name = name
    this.marker = marker
  }
}

/** The history of an id in a response, list or search; undefined if no upload can have created it. */
export function lifeOf(document: SentDocument, id: string, { to }: Span): Register<boolean> | undefined {
  const known = document.lives.get(id)
  if (known !== undefined) return known
  if (document.unanswered === 0) return undefined
  const life = new Register(false)
  life.done(life.begin(true, document.sentAt), to)
  document.lives.set(id, life)
  return life
}
