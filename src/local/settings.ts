import { type ConverterSetting, converters } from './converter-setting.js'
import { databaseAddress } from './database-address.js'
import { objectPlace } from './object-place.js'
import { languageSetting } from './ocr-languages.js'
import { type ProviderSetting, providers } from './provider-setting.js'
import {
  atLeast,
  flag,
  numeric,
  oneOf,
  origins,
  parseJson,
  ranges,
  record,
  someText,
  text,
  texts,
  webAddress,
} from './setting-readers.js'

/**
 * All settings of the daemon: default, name in `config.json` and in the environment, reader, and one line of
 * documentation. The daemon, `ks config` and the docs use this table. It does not depend on zod.
 */

export interface ModelSetting {
  pluginId: string
  provider: string
  model: string
}

/** Names of the quotas in the manifest of a space. */
const QUOTA_NAMES = [
  'maxActiveJobCount',
  'maxActiveSessionCount',
  'maxArtifactBytes',
  'maxEmbeddingTokensPerDay',
  'maxGraphEntityCount',
  'maxGraphRelationCount',
  'maxLlmTokensPerDay',
  'maxNodeCount',
  'maxParserPagesPerDay',
  'maxProjectionCount',
  'maxRawDocumentBytes',
  'maxRerankRequestsPerDay',
  'maxSegmentCount',
  'maxTraceBytes',
] as const

export type QuotaSetting = { [N in (typeof QUOTA_NAMES)[number]]?: number }

interface Setting<T> {
  env: string
  default: T
  doc: string
  /** Reads a value of `config.json`, or the text of an environment variable. @throws Error with the rule */
  read(value: unknown): T
}

/** A setting that may be absent. */
type Optional<T> = T | undefined

export const SETTINGS = {
  listen: setting('LISTEN', '127.0.0.1:7733', address, 'address and port; port 0 takes any free one'),
  socket: setting('SOCKET', true, flag, 'also listen on the unix socket run/sock of the data directory'),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    none<string>(),
    texts,
    'Host headers accepted beside loopback, as name or name:port',
  ),
  allowedOrigins: setting(
    'ALLOWED_ORIGINS',
    none<string>(),
    texts,
    'browser origins that may call the API, as https://name',
  ),
  publicUrl: setting<Optional<string>>(
    'PUBLIC_URL',
    undefined,
    webAddress,
    'address under which clients reach the daemon, for links in its answers; default that of each request',
  ),
  tlsCert: setting<Optional<string>>('TLS_CERT', undefined, text, 'PEM file with the certificate chain; needs tlsKey'),
  tlsKey: setting<Optional<string>>('TLS_KEY', undefined, text, 'PEM file with the private key; needs tlsCert'),
  insecureListen: setting('INSECURE_LISTEN', false, flag, 'allow an address that is not loopback without TLS'),
  allowNetworkDisk: setting(
    'ALLOW_NETWORK_DISK',
    false,
    flag,
    'open a data directory on NFS, SMB or 9p (environment only)',
  ),
  backend: setting<Optional<string>>(
    'BACKEND',
    undefined,
    backend,
    'database server: postgres://user@host:port/name, or several hosts separated by commas; default a file in the data directory',
  ),
  backendPasswordFile: setting<Optional<string>>(
    'BACKEND_PASSWORD_FILE',
    undefined,
    text,
    'file with the password for backend; else PGPASSWORD, ~/.pgpass or the address',
  ),
  search: setting<'index' | 'postgres'>(
    'SEARCH',
    'index',
    oneOf(['index', 'postgres']),
    'search for words and vectors: index, an index in the data directory; postgres, the server of backend, which needs pgvector',
  ),
  keys: setting<Optional<string>>(
    'KEYS',
    undefined,
    text,
    'folder with the signing.key and data.key of a deployment of several gateways; default each data directory has its own',
  ),
  objects: setting<Optional<string>>(
    'OBJECTS',
    undefined,
    placeOfObjects,
    'storage of the bytes of documents: s3://bucket/prefix?endpoint=https://host&region=name; default the data directory',
  ),
  compilation: setting<'durable' | 'inline'>(
    'COMPILATION',
    'durable',
    oneOf(['durable', 'inline']),
    'durable: an upload answers 202 at once; inline: 201 once the document is published',
  ),
  uploadBytes: setting('UPLOAD_BYTES', 512 * 1024 ** 2, atLeast(1), 'maximum size of an uploaded file, in bytes'),
  bulkFiles: setting('BULK_FILES', 1000, atLeast(1), 'maximum number of files in one bulk upload'),
  bulkBytes: setting('BULK_BYTES', 2 * 1024 ** 3, atLeast(1), 'maximum size of one bulk upload, in bytes'),
  concurrentQueries: setting<Optional<number>>(
    'CONCURRENT_QUERIES',
    undefined,
    atLeast(1),
    'maximum number of concurrent queries; default 4 per core',
  ),
  waitingQueries: setting(
    'WAITING_QUERIES',
    256,
    atLeast(0),
    'maximum number of queries that wait to run; one more is refused with 429, from the tenant with most waiting queries',
  ),
  readingProcesses: setting<Optional<number>>(
    'READING_PROCESSES',
    undefined,
    atLeast(1),
    'maximum number of processes that read documents, started on demand; default one for every two cores, at most four',
  ),
  converters: setting(
    'CONVERTERS',
    none<ConverterSetting>(),
    converters,
    'programs that convert files of unsupported types: a list of {types, argv, paths}',
  ),
  unconfinedPrograms: setting(
    'UNCONFINED_PROGRAMS',
    false,
    flag,
    'start converters and programs of providers even where neither bubblewrap nor unshare confines them: they can read and write whatever the daemon can',
  ),
  ocrLanguages: setting<readonly string[]>(
    'OCR_LANGUAGES',
    ['eng+auto'],
    (value) => languageSetting(texts(value)),
    'languages of text in pictures, as eng+deu; with auto, installed ones of other scripts, too; for one space, as letters=deu; see `ks languages`',
  ),
  embeddingThreads: setting<Optional<number>>(
    'EMBEDDING_THREADS',
    undefined,
    atLeast(1),
    'threads that embed texts with local models; default one for every four cores, at most four',
  ),
  spacesPerTenant: setting('SPACES_PER_TENANT', 1000, atLeast(1), 'maximum number of knowledge spaces of one tenant'),
  quotas: setting<QuotaSetting>(
    'QUOTAS',
    {},
    quotas,
    'quotas of every space instead of those in its manifest, as {"maxNodeCount": 100000}',
  ),
  retentionIntervalMinutes: setting(
    'RETENTION_INTERVAL_MINUTES',
    60,
    positiveNumber,
    'interval of the clean-up by retention policies',
  ),
  retentionBatchRows: setting(
    'RETENTION_BATCH_ROWS',
    200,
    atLeast(1),
    'maximum number of rows that one transaction of the clean-up removes',
  ),
  egressAllow: setting(
    'EGRESS_ALLOW',
    none<string>(),
    ranges,
    'addresses and CIDR ranges outside the public internet that sources and images of chat messages may be fetched from',
  ),
  chatPages: setting(
    'CHAT_PAGES',
    none<string>(),
    texts,
    'chat applications that are public at /chat/ID for everyone who can reach the daemon: an id, or tenant/id',
  ),
  chatPageFrames: setting(
    'CHAT_PAGE_FRAMES',
    none<string>(),
    origins,
    'sites that may embed these pages in a frame, as https://name',
  ),
  trustedProxies: setting('TRUSTED_PROXIES', none<string>(), ranges, 'proxies whose X-Forwarded-For names the client'),
  rateLimit: setting('RATE_LIMIT', 0, atLeast(0), 'requests per minute and token; 0 for no limit'),
  providers: setting(
    'PROVIDERS',
    none<ProviderSetting>(),
    providers,
    'model providers: a list of {pluginId, provider, baseUrl, apiKeyEnv, …}',
  ),
  defaultEmbedding: setting<ModelSetting>(
    'DEFAULT_EMBEDDING',
    { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' },
    model,
    'embedding model of spaces that name none, as pluginId/provider/model',
  ),
  defaultGenerator: setting<ModelSetting>(
    'DEFAULT_GENERATOR',
    { pluginId: 'builtin', provider: 'extractive', model: 'extractive' },
    model,
    'model that answers where a space names none, as pluginId/provider/model',
  ),
  visionModel: setting<Optional<ModelSetting>>(
    'VISION_MODEL',
    undefined,
    model,
    'model that describes pictures of documents, as pluginId/provider/model; default none: no picture is sent to a model',
  ),
  defaultSpeech: setting<Optional<ModelSetting>>(
    'DEFAULT_SPEECH',
    undefined,
    model,
    'model that reads texts aloud where a chat application names none, as pluginId/provider/model',
  ),
  defaultTranscription: setting<Optional<ModelSetting>>(
    'DEFAULT_TRANSCRIPTION',
    undefined,
    model,
    'model that transcribes recordings, and speech in chat applications that name none; as pluginId/provider/model',
  ),
  jwtJwksUrl: setting<Optional<string>>(
    'JWT_JWKS_URL',
    undefined,
    webAddress,
    'URL of the public keys of an identity provider',
  ),
  jwtPublicKeyFile: setting<Optional<string>>(
    'JWT_PUBLIC_KEY_FILE',
    undefined,
    text,
    'PEM file with the public key of an identity provider',
  ),
  jwtIssuer: setting<Optional<string>>('JWT_ISSUER', undefined, text, 'issuer that outside tokens must name'),
  jwtAudience: setting<Optional<string>>('JWT_AUDIENCE', undefined, text, 'audience that outside tokens must name'),
  jwtTenantClaim: setting('JWT_TENANT_CLAIM', 'tenant', someText, 'claim that holds the tenant'),
  jwtScopeClaim: setting('JWT_SCOPE_CLAIM', 'scope', someText, 'claim that holds the scopes'),
  jwtLocalTokens: setting<Optional<boolean>>(
    'JWT_LOCAL_TOKENS',
    undefined,
    flag,
    'accept tokens signed by the data directory; default yes, unless an identity provider is configured',
  ),
  idleExitMinutes: setting(
    'IDLE_EXIT_MINUTES',
    30,
    positiveNumber,
    'idle time after which a daemon started by the CLI exits',
  ),
  stopSeconds: setting(
    'STOP_SECONDS',
    20,
    positiveNumber,
    'maximum duration of an orderly stop; what still runs then is killed, and nothing acknowledged is lost',
  ),
  logLevel: setting<LogLevel>(
    'LOG_LEVEL',
    'info',
    oneOf(['debug', 'info', 'warn', 'error']),
    'lowest level that is logged',
  ),
} as const

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type SettingName = keyof typeof SETTINGS

export type Settings = { [N in SettingName]: ReturnType<(typeof SETTINGS)[N]['read']> }

function setting<T>(env: string, fallback: T, read: (value: unknown) => T, doc: string): Setting<T> {
  return { env: `KS_DAEMON_${env}`, default: fallback, doc, read }
}

function none<T>(): readonly T[] {
  return []
}

function address(value: unknown): string {
  if (!/^(\[[0-9a-f:.%\w]+\]|[^\s:[\]/]+):\d{1,5}$/i.test(text(value)))
    throw new Error('host:port, as in 127.0.0.1:7733 or [::1]:7733')
  return text(value)
}

function backend(value: unknown): string {
  databaseAddress(text(value))
  return text(value)
}

function placeOfObjects(value: unknown): string {
  objectPlace(text(value))
  return text(value)
}

function positiveNumber(value: unknown): number {
  const number = numeric(value)
  if (!(number > 0) || !Number.isFinite(number)) throw new Error('a number above 0')
  return number
}

function model(value: unknown): ModelSetting {
  const rule = 'pluginId/provider/model'
  if (typeof value === 'string') {
    const [pluginId, provider, ...rest] = value.split('/')
    const name = rest.join('/') // names of models may hold slashes
    if (!pluginId || !provider || !name) throw new Error(rule)
    return { pluginId, provider, model: name }
  }
  const fields = record(value, rule)
  const known = { pluginId: someText(fields.pluginId), provider: someText(fields.provider) }
  return { ...known, model: someText(fields.model) }
}

function quotas(value: unknown): QuotaSetting {
  const rule = 'an object of quotas (in the environment: as JSON)'
  const fields = record(typeof value === 'string' ? parseJson(value) : value, rule)
  const stranger = Object.keys(fields).find((key) => !QUOTA_NAMES.some((name) => name === key))
  if (stranger !== undefined) throw new Error(`${rule} without the key ${JSON.stringify(stranger)}`)
  const read: QuotaSetting = {}
  for (const name of QUOTA_NAMES) if (fields[name] !== undefined) read[name] = atLeast(1)(fields[name])
  return read
}
