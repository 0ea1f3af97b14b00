import type { ServerContext } from '@modelcontextprotocol/server'
import type { GatewayApi } from './api.js'

/** Result of ingesting one file. */
export interface IngestedFile {
  filename: string
  status: string
  documentId?: string | undefined
  reason?: string | undefined
}

export interface IngestRequest {
  paths: string[]
  spaceId: string
  /** Wait until every document is published or failed. */
  wait: boolean
  signal: AbortSignal
  onProgress(done: number, total: number): void
}

/** Files of the machine that the server runs on; only a stdio server has access to them. */
export interface LocalFileIngester {
  ingest(request: IngestRequest): Promise<IngestedFile[]>
}

/** The spaces of a session, as slugs or ids. */
export interface SpaceSelection {
  /** The only visible space. */
  onlySpace?: string | undefined
  /** The default space of calls that name none. */
  defaultSpace?: string | undefined
}

/** Environment of a session: a command over stdio, or the daemon over HTTP. */
export interface McpHost {
  version: string
  selection: SpaceSelection
  /** The gateway, called with the identity of the sender of a request; without a request, that of the session. */
  getApi(context?: ServerContext): GatewayApi
  /** Whether tools that write are offered. */
  mayWrite: boolean
  ingester?: LocalFileIngester | undefined
}
