import type { QuotaPolicy } from '../../contract/gateway/spaces.js'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { DiskReserve } from '../../local/disk-reserve.js'
import type { ObjectLocation } from '../../local/object-location.js'
import type { LanguageSelection } from '../../local/ocr-languages.js'
import type { EngineLog } from './log.js'
import type { ModelReference } from './model-reference.js'
import type { ProviderConfig } from './provider-config.js'
import type { HostResolver } from './resolve.js'

export interface EngineOptions {
  dataDir: string
  /** where the bytes of documents are stored; files of the data directory if absent */
  objects?: ObjectLocation | undefined
  /** address of the database server; a file of the data directory if absent */
  database?: DatabaseAddress | undefined
  /**
   * Text and vector search: `index` uses an index on the disk of this gateway, `postgres` the database server; `index`
   * if absent
   */
  search?: 'index' | 'postgres' | undefined
  /** `inline`: an upload returns when its document is published */
  compilation: 'durable' | 'inline'
  providers: ProviderConfig[]
  /** programs that convert files of unsupported types */
  converters?: readonly { types: readonly string[]; argv: readonly string[]; paths?: readonly string[] }[]
  /** confinement of programs that read documents; if absent, no further secrets, and no program runs unconfined */
  programs?: {
    /** further files and folders that the programs never see */
    secrets: () => readonly string[]
    /** start them on systems without confinement */
    allowUnconfined: boolean
  }
  /** for spaces that name no embedding model */
  defaultEmbedding: ModelReference
  /** for questions in spaces whose profile names no reasoning model */
  defaultGenerator: ModelReference
  /** describes pictures of documents; if absent, no picture is sent to a model */
  visionModel?: ModelReference | undefined
  /** for speech output of applications that name no model */
  defaultSpeech?: ModelReference | undefined
  /** for transcription in applications that name no model */
  defaultTranscription?: ModelReference | undefined
  limits: {
    uploadBytes: number
    bulkFiles: number
    bulkBytes: number
    concurrentQueries: number
    waitingQueries: number
    spacesPerTenant: number
  }
  /** number of parallel workers; one of each if absent */
  workers?: {
    /** processes that parse files */
    reading: number
    /** threads that embed texts with the models of this machine */
    embedding: number
  }
  /** OCR languages; English if absent */
  ocr?: LanguageSelection
  /** processor time per document for OCR, in milliseconds; ten seconds if absent */
  ocrBudgetMs?: number
  /** override the numbers in the manifests of all spaces */
  quotas: QuotaOverrides
  retention: RetentionSchedule
  /** interval of the audit for passages without a vector, in milliseconds; ten minutes if absent */
  vectorAuditMs?: number
  sources?: {
    /** addresses and CIDR ranges outside the public internet that sources may reach */
    egressAllow?: readonly string[]
    /** host name resolution; by the system if absent */
    resolve?: HostResolver
    /** interval of the schedule, in milliseconds */
    tickMs?: number
  }
  /** if absent, local files are not checked */
  localFiles?: {
    /** called with the path of a file that has changed since its document was made */
    onStale(path: string): void
  }
  /** free space on the disk of the data directory; if absent, a full disk is noticed when a write fails */
  diskReserve?: DiskReserve
  /**
   * Name of the lock on the data directory that the caller holds. The next holder knows from it that this process is
   * dead, without waiting for missed heartbeats. If absent, heartbeats alone decide.
   */
  heldLock?: string
  /** time for ages and expiry, in milliseconds since the epoch; the system clock if absent */
  now?: () => number
  log: EngineLog
}

export type QuotaOverrides = {
  [N in Exclude<keyof QuotaPolicy, 'providerBudgets'> | keyof QuotaPolicy['providerBudgets']]?: number
}

/** Schedule of the background purge of what has outlived its policy. */
export interface RetentionSchedule {
  /** from the end of one run to the start of the next */
  intervalMs: number
  /** maximum number of rows that one transaction removes */
  batchRows: number
}
