import { Register, type Span } from './history.js'

/** A document that was sent: its name, and so its bytes, belong to one upload alone. */
export interface SentDocument {
  filename: string
  /** in its text and in no other */
  word: string
  bytes: Buffer
  sha256: string
  /** by id: whether it is there. Sent again after its deletion, the same bytes get another id */
  lives: Map<string, Register<boolean>>
  /** moment at which it was sent first */
  sentAt: number
  /** uploads of it that were not answered, or not yet: an id nobody knows may be theirs */
  unanswered: number
}

/** A reference question, by its text, which is unique. */
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
  /** versions that were acknowledged; no two changes may make the same one */
  versions: Set<number>
}

export interface KeptSnapshot {
  id: string
  /** what each file of the workspace may have held, by name; undefined: nothing */
  files: Map<string, (string | undefined)[]>
  isThere: Register<boolean>
}

/** What the model knows of one space. */
export class SpaceModel {
  readonly id: string
  readonly slug: string
  /** deleted by nobody, so that there is something to work on */
  readonly isKept: boolean
  readonly isThere = new Register(true)
  readonly description: Register<string>
  readonly documents = new Map<string, SentDocument>()
  /** contents of files of workspaces by path; undefined where there is none */
  readonly files = new Map<string, Register<string | undefined>>()
  readonly questions = new Map<string, SentQuestion>()
  readonly sources = new Map<string, SentSource>()
  readonly snapshots: KeptSnapshot[] = []
  /** ids of research tasks by their questions, which are unique; undefined where none was answered */
  readonly tasks = new Map<string, string | undefined>()
  /** 0 and -1: as the space was made with */
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

  /** The document of an id that was answered or listed. */
  documentOf(id: string): SentDocument | undefined {
    for (const document of this.documents.values()) if (document.lives.has(id)) return document
    return undefined
  }

  /** Ids that may be asked for, in an order that depends on the answers only. */
  knownIds(): string[] {
    return [...this.documents.values()].flatMap(({ lives }) => [...lives.keys()])
  }

  mayBeGone(span: Span): boolean {
    return this.isThere.allows(false, span)
  }
}

/** One tenant with a word that is in everything it sends and may be in nothing that another one reads. */
export class TenantModel {
  readonly name: string
  readonly marker: string
  readonly spaces: SpaceModel[] = []

  constructor(name: string, marker: string) {
    this.name = name
    this.marker = marker
  }
}

/** The life of an id that an answer, a list or a search has shown; undefined when nobody can have made it. */
export function lifeOf(document: SentDocument, id: string, { to }: Span): Register<boolean> | undefined {
  const known = document.lives.get(id)
  if (known !== undefined) return known
  if (document.unanswered === 0) return undefined
  const life = new Register(false)
  life.done(life.begin(true, document.sentAt), to)
  document.lives.set(id, life)
  return life
}
