import type { ServerContext } from '@modelcontextprotocol/server'
import type { Api } from './api.js'

/** What became of files that were ingested. */
export interface IngestedFile {
  filename: string
  status: string
  documentId?: string | undefined
  reason?: string | undefined
}

export interface IngestRequest {
  paths: string[]
  spaceId: string
  /** wait until every document is published or failed */
  wait: boolean
  signal: AbortSignal
  progress(done: number, total: number): void
}

/** Files of the machine that the server runs on; only a server over stdio has them. */
export interface LocalFiles {
  ingest(request: IngestRequest): Promise<IngestedFile[]>
}

export interface SpacesView {
  /** the one that is shown */
  only?: string | undefined
  /** the one that is meant where a call names none */
  preferred?: string | undefined
}

/** What serves a session: a command over stdio, or the daemon over HTTP. */
export interface Host {
  version: string
  /** slugs or ids of spaces */
  view: SpacesView
  /** the gateway in the name of whoever sent a request; of the session where there is none */
  api(context?: ServerContext): Api
  /** whether tools that write are offered */
  mayWrite: boolean
  local?: LocalFiles | undefined
}
