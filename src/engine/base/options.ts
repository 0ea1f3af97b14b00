import type { QuotaPolicy } from '../../contract/gateway/spaces.js'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { DiskRoom } from '../../local/disk-room.js'
import type { ObjectPlace } from '../../local/object-place.js'
import type { ChosenLanguages } from '../../local/ocr-languages.js'
import type { EngineLog } from './log.js'
import type { ModelReference } from './model-reference.js'
import type { ProviderConfig } from './provider-config.js'
import type { Resolve } from './resolve.js'

export interface EngineOptions {
  dataDir: string
  /** where the bytes of documents are; files of the data directory where absent */
  objects?: ObjectPlace | undefined
  /** the server that has the database; a file of the data directory where absent */
  database?: DatabaseAddress | undefined
  /**
   * Who looks for words and vectors: an index on the disk of this gateway, or the server that has the database; `index`
   * where absent
   */
  search?: 'index' | 'postgres' | undefined
  /** `inline`: an upload answers when its document is published */
  compilation: 'durable' | 'inline'
  providers: ProviderConfig[]
  /** programs that make files readable whose types are not */
  converters?: readonly { types: readonly string[]; argv: readonly string[]; paths?: readonly string[] }[]
  /** confinement of programs that read documents; absent = no further secrets, and no program runs unconfined */
  programs?: {
    /** further files and folders that they never see */
    secrets: () => readonly string[]
    /** start them where nothing confines them */
    allowUnconfined: boolean
  }
  /** used for spaces that name no embedding model */
  defaultEmbedding: ModelReference
  /** answers questions where a space's profile names no reasoning model */
  defaultGenerator: ModelReference
  /** describes pictures of documents; absent: no picture is shown to a model */
  visionModel?: ModelReference | undefined
  /** reads texts aloud where an application names no model */
  defaultSpeech?: ModelReference | undefined
  /** writes down what is said where an application names no model */
  defaultTranscription?: ModelReference | undefined
  limits: {
    uploadBytes: number
    bulkFiles: number
    bulkBytes: number
    concurrentQueries: number
    waitingQueries: number
    spacesPerTenant: number
  }
  /** what works at documents at the same time; one of each where absent */
  workers?: {
    /** processes that read files */
    reading: number
    /** threads that embed texts with the models of this machine */
    embedding: number
  }
  /** how text in pictures is read; English where absent */
  ocr?: ChosenLanguages
  /** processor time for text in pictures of one document at a time, milliseconds; ten seconds where absent */
  ocrBudgetMs?: number
  /** instead of the numbers in the manifests of all spaces */
  quotas: QuotaOverrides
  retention: RetentionSchedule
  /** between two looks for passages without a vector, milliseconds; ten minutes where absent */
  vectorAuditMs?: number
  sources?: {
    /** addresses and CIDR ranges outside the public internet that sources may reach */
    egressAllow?: readonly string[]
    /** how names of places are looked up; by the system where absent */
    resolve?: Resolve
    /** time between two looks at the schedule, milliseconds */
    tickMs?: number
  }
  /** absent: files of this machine are not looked at */
  localFiles?: {
    /** told the path of a file that does not look as it did when its document was made */
    onStale(path: string): void
  }
  /** the room on the disk of the data directory; absent: it shows only when a write fails */
  room?: DiskRoom
  /**
   * Names the lock on the data directory that the caller holds: who holds it later knows that this process is dead, without
   * waiting for its heartbeat to be missed. Absent: heartbeats alone tell
   */
  heldLock?: string
  /** milliseconds since the epoch by which things grow old; the clock of the system where absent */
  now?: () => number
  log: EngineLog
}

export type QuotaOverrides = {
  [N in Exclude<keyof QuotaPolicy, 'providerBudgets'> | keyof QuotaPolicy['providerBudgets']]?: number
}

/** How the background clean-up works through what has outlived its policy. */
export interface RetentionSchedule {
  /** from the end of one run to the start of the next */
  intervalMs: number
  /** most rows that one transaction removes */
  batchRows: number
}
