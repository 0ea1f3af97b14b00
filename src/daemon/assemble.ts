import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { KsError } from '../contract/errors.js'
import { toOpenApi } from '../contract/openapi.js'
import { allRoutes } from '../contract/routes.js'
import type { Engine } from '../engine/api.js'
import type { EngineOptions } from '../engine/base/options.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { type DatabaseAddress, parseDatabaseAddress, readDatabasePassword } from '../local/database-address.js'
import { resolveLocalDirs } from '../local/dirs.js'
import type { DiskReserve } from '../local/disk-reserve.js'
import { parseObjectLocation } from '../local/object-location.js'
import { parseLanguageSelection } from '../local/ocr-languages.js'
import { findProtectedFiles, listKeyFiles } from '../local/protected-files.js'
import type { Settings } from '../local/settings.js'
import { createTokenVerifier, type ExternalTokenOptions, type TokenVerifier } from './auth/tokens.js'
import { createPreviewLinks } from './chat/previews.js'
import { createChatVisits } from './chat/visits.js'
import { createClientAddress } from './http/client-address.js'
import { createGuard, isLoopback } from './http/guard.js'
import { createRateLimit } from './http/rate-limit.js'
import { FixedJson } from './http/reply.js'
import { RequestMetrics } from './metrics/requests.js'
import type { OpenWork } from './open-work.js'
import { createApp, type DaemonApp } from './server.js'
import type { DaemonIdentity, StatusReader } from './status.js'
import { createDisabledWatchControl, type WatchControl } from './watch/control.js'

const QUERIES_PER_CORE = 4
const MINUTE_MS = 60_000

export interface AppParts {
  settings: Settings
  identity: DaemonIdentity
  engine: Engine
  work: OpenWork
  status: StatusReader
  log: Logger
  /** Key of the data directory. */
  signingKey: Uint8Array
  dataDir: string
  /** Absent: a full disk is only detected when a write fails. */
  diskReserve?: DiskReserve
  /** Absent: nothing is watched. */
  watching?: WatchControl
}

/** Creates the application of a daemon with these settings. */
export function assembleApp(parts: AppParts): DaemonApp {
  const { settings, identity, engine, work, status, log, signingKey, dataDir } = parts
  const watching = parts.watching ?? createDisabledWatchControl({ allowed: mayUseLocalFiles(settings) })
  let openApiDocument: FixedJson | undefined
  const openapi = () => {
    openApiDocument ??= new FixedJson(toOpenApi(allRoutes, identity.version))
    return openApiDocument
  }
  return createApp({
    deps: {
      engine,
      compilation: settings.compilation,
      status,
      requestMetrics: new RequestMetrics(),
      watching,
      visits: createChatVisits({
        signingKey,
        pages: settings.chatPages,
        frames: settings.chatPageFrames,
        rateLimit: settings.rateLimit,
        gateways: () => engine.gateways(),
      }),
      dataDir,
      findProtectedFiles: () => findProtectedFiles({ ...resolveLocalDirs(), data: dataDir }, listKeyFiles(settings)),
      openapi,
    },
    identification: identity,
    guard: createGuard(settings),
    tokens: createConfiguredTokenVerifier(settings, signingKey, engine),
    clientAddress: createClientAddress(settings.trustedProxies),
    rateLimit: createRateLimit(settings.rateLimit, () => engine.gateways()),
    uploads: settings,
    previews: createPreviewLinks(signingKey, settings.publicUrl),
    work,
    diskReserve: parts.diskReserve,
    log,
    checkResponses: process.env.KS_CHECK_RESPONSES === '1',
  })
}

/**
 * Only a daemon that serves its own machine, to callers known to its data directory, may read files of that machine.
 */
export function mayUseLocalFiles({ listen, backend, jwtJwksUrl, jwtPublicKeyFile }: Settings): boolean {
  const host = listen.slice(0, listen.lastIndexOf(':'))
  return isLoopback(host) && backend === undefined && jwtJwksUrl === undefined && jwtPublicKeyFile === undefined
}

function createConfiguredTokenVerifier(settings: Settings, key: Uint8Array, engine: Engine): TokenVerifier {
  const external = toExternalTokens(settings)
  const acceptLocal = settings.jwtLocalTokens ?? external === undefined
  return createTokenVerifier({
    ...omitUndefined({ localKey: acceptLocal ? key : undefined, external }),
    isRevoked: (jti) => engine.tokens.isRevoked(jti),
  })
}

function toExternalTokens(settings: Settings): ExternalTokenOptions | undefined {
  const { jwtJwksUrl, jwtPublicKeyFile, jwtIssuer, jwtAudience } = settings
  if (jwtJwksUrl === undefined && jwtPublicKeyFile === undefined) return undefined
  if (jwtIssuer === undefined || jwtAudience === undefined)
    throw new KsError('invalid-request', 'an identity provider requires jwtIssuer and jwtAudience')
  return {
    jwksUrl: jwtJwksUrl,
    publicKeyFile: jwtPublicKeyFile,
    issuer: jwtIssuer,
    audience: jwtAudience,
    tenantClaim: settings.jwtTenantClaim,
    scopeClaim: settings.jwtScopeClaim,
  }
}

/** More workers would wait for the other stages of a compilation, which share one thread; each takes some 60 MB. */
const MAX_WORKERS = 4

function computeWorkerCount(cores: number): number {
  return Math.min(MAX_WORKERS, Math.max(1, Math.floor(cores)))
}

/** Derives the engine's options from the settings. */
export function toEngineOptions(dataDir: string, settings: Settings, log: Logger): EngineOptions {
  const { compilation, providers, defaultEmbedding, defaultGenerator, uploadBytes, bulkFiles, bulkBytes } = settings
  const { waitingQueries, spacesPerTenant, quotas } = settings
  const concurrentQueries = settings.concurrentQueries ?? QUERIES_PER_CORE * availableParallelism()
  return {
    dataDir,
    database: toDatabaseAddress(settings),
    search: settings.search,
    objects: settings.objects === undefined ? undefined : parseObjectLocation(settings.objects),
    compilation,
    providers: [...providers],
    converters: settings.converters,
    defaultEmbedding,
    defaultGenerator,
    visionModel: settings.visionModel,
    defaultSpeech: settings.defaultSpeech,
    defaultTranscription: settings.defaultTranscription,
    limits: { uploadBytes, bulkFiles, bulkBytes, concurrentQueries, waitingQueries, spacesPerTenant },
    workers: {
      reading: settings.readingProcesses ?? computeWorkerCount(availableParallelism() / 2),
      embedding: settings.embeddingThreads ?? computeWorkerCount(availableParallelism() / 4),
    },
    quotas,
    ocr: parseLanguageSelection(dataDir, settings.ocrLanguages),
    retention: {
      intervalMs: settings.retentionIntervalMinutes * MINUTE_MS,
      batchRows: settings.retentionBatchRows,
    },
    sources: { egressAllow: settings.egressAllow },
    log,
  }
}

/** The configured database address; undefined for the database file of the data directory. */
export function toDatabaseAddress({ backend, backendPasswordFile }: Settings): DatabaseAddress | undefined {
  return backend === undefined ? undefined : parseDatabaseAddress(backend, backendPasswordFile)
}

/** All configured credentials, for removal from the log. */
export function collectSecrets(settings: Settings, env: Readonly<Record<string, string | undefined>>): string[] {
  const { backend, backendPasswordFile } = settings
  const storageSecrets = [
    ...(settings.objects === undefined ? [] : [env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN]),
    ...(backend === undefined ? [] : [readDatabasePassword(backend, backendPasswordFile), env.PGPASSWORD]),
  ]
  return settings.providers
    .flatMap(({ apiKey, apiKeyEnv, headers }) => [
      apiKey,
      apiKeyEnv === undefined ? undefined : env[apiKeyEnv],
      ...Object.values(headers ?? {}),
    ])
    .concat(storageSecrets)
    .filter((secret) => secret !== undefined)
}
