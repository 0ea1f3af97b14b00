import { type ConverterSetting, readConverters } from './converter-setting.js'
import { readLanguageSetting } from './ocr-languages.js'
import { type ProviderSetting, readProviders } from './provider-setting.js'
import {
  createChoiceReader,
  createIntegerReader,
  readAddressRanges,
  readFlag,
  readLocalPath,
  readNonEmptyText,
  readOrigins,
  readText,
  readTexts,
  readWebAddress,
} from './setting-readers.js'
import {
  type ModelSetting,
  type QuotaSetting,
  readBackend,
  readListenAddress,
  readModel,
  readObjectLocation,
  readPositiveNumber,
  readQuotas,
} from './setting-types.js'

/**
 * All settings of the daemon: default, name in `config.json` and in the environment, reader, and one line of
 * documentation. The daemon, `ks config` and the docs use this table. It does not depend on zod.
 */

interface SettingDefinition<T> {
  env: string
  default: T
  doc: string
  /** Reads a value of `config.json`, or the text of an environment variable. @throws Error with the rule */
  read(value: unknown): T
}

/** A setting that may be absent. */
type OptionalSetting<T> = T | undefined

export const SETTINGS = {
  listen: defineSetting('LISTEN', '127.0.0.1:7733', readListenAddress, 'address and port; port 0 takes any free one'),
  socket: defineSetting('SOCKET', true, readFlag, 'also listen on the unix socket run/sock of the data directory'),
  allowedHosts: defineSetting(
    'ALLOWED_HOSTS',
    emptyList<string>(),
    readTexts,
    'Host headers accepted in addition to loopback, as name or name:port',
  ),
  allowedOrigins: defineSetting(
    'ALLOWED_ORIGINS',
    emptyList<string>(),
    readTexts,
    'browser origins that may call the API, as https://name',
  ),
  publicUrl: defineSetting<OptionalSetting<string>>(
    'PUBLIC_URL',
    undefined,
    readWebAddress,
    'address under which clients reach the daemon, for links in its answers; default that of each request',
  ),
  tlsCert: defineSetting<OptionalSetting<string>>(
    'TLS_CERT',
    undefined,
    readLocalPath,
    'PEM file with the certificate chain; needs tlsKey',
  ),
  tlsKey: defineSetting<OptionalSetting<string>>(
    'TLS_KEY',
    undefined,
    readLocalPath,
    'PEM file with the private key; needs tlsCert',
  ),
  insecureListen: defineSetting(
    'INSECURE_LISTEN',
    false,
    readFlag,
    'allow an address that is not loopback without TLS',
  ),
  allowNetworkDisk: defineSetting(
    'ALLOW_NETWORK_DISK',
    false,
    readFlag,
    'open a data directory on NFS, SMB or 9p (environment only)',
  ),
  backend: defineSetting<OptionalSetting<string>>(
    'BACKEND',
    undefined,
    readBackend,
    'database server: postgres://user@host:port/name, or several hosts separated by commas; default a file in the data directory',
  ),
  backendPasswordFile: defineSetting<OptionalSetting<string>>(
    'BACKEND_PASSWORD_FILE',
    undefined,
    readLocalPath,
    'file with the password for backend; else PGPASSWORD, ~/.pgpass or the address',
  ),
  search: defineSetting<'index' | 'postgres'>(
    'SEARCH',
    'index',
    createChoiceReader(['index', 'postgres']),
    'search for words and vectors: index, an index in the data directory; postgres, the server of backend, which needs pgvector',
  ),
  keys: defineSetting<OptionalSetting<string>>(
    'KEYS',
    undefined,
    readLocalPath,
    'folder with the signing.key and data.key of a deployment of several gateways; default each data directory has its own',
  ),
  objects: defineSetting<OptionalSetting<string>>(
    'OBJECTS',
    undefined,
    readObjectLocation,
    'storage of the bytes of documents: s3://bucket/prefix?endpoint=https://host&region=name; default the data directory',
  ),
  compilation: defineSetting<'durable' | 'inline'>(
    'COMPILATION',
    'durable',
    createChoiceReader(['durable', 'inline']),
    'durable: an upload answers 202 at once; inline: 201 once the document is published',
  ),
  uploadBytes: defineSetting(
    'UPLOAD_BYTES',
    512 * 1024 ** 2,
    createIntegerReader(1),
    'maximum size of an uploaded file, in bytes',
  ),
  bulkFiles: defineSetting('BULK_FILES', 1000, createIntegerReader(1), 'maximum number of files in one bulk upload'),
  bulkBytes: defineSetting(
    'BULK_BYTES',
    2 * 1024 ** 3,
    createIntegerReader(1),
    'maximum size of one bulk upload, in bytes',
  ),
  concurrentQueries: defineSetting<OptionalSetting<number>>(
    'CONCURRENT_QUERIES',
    undefined,
    createIntegerReader(1),
    'maximum number of concurrent queries; default 4 per core',
  ),
  waitingQueries: defineSetting(
    'WAITING_QUERIES',
    256,
    createIntegerReader(0),
    'maximum number of queries that wait to run; one more is refused with 429, from the tenant with most waiting queries',
  ),
  readingProcesses: defineSetting<OptionalSetting<number>>(
    'READING_PROCESSES',
    undefined,
    createIntegerReader(1),
    'maximum number of processes that read documents, started on demand; default one for every two cores, at most four',
  ),
  converters: defineSetting(
    'CONVERTERS',
    emptyList<ConverterSetting>(),
    readConverters,
    'programs that convert files of unsupported types: a list of {types, argv, paths}',
  ),
  unconfinedPrograms: defineSetting(
    'UNCONFINED_PROGRAMS',
    false,
    readFlag,
    'start converters and programs of providers even where neither bubblewrap nor unshare confines them: they can read and write whatever the daemon can',
  ),
  ocrLanguages: defineSetting<readonly string[]>(
    'OCR_LANGUAGES',
    ['eng+auto'],
    (value) => readLanguageSetting(readTexts(value)),
    'languages of text in pictures, as eng+deu; with auto, installed ones of other scripts, too; for one space, as letters=deu; see `ks doctor --languages`',
  ),
  embeddingThreads: defineSetting<OptionalSetting<number>>(
    'EMBEDDING_THREADS',
    undefined,
    createIntegerReader(1),
    'threads that embed texts with local models; default one for every four cores, at most four',
  ),
  spacesPerTenant: defineSetting(
    'SPACES_PER_TENANT',
    1000,
    createIntegerReader(1),
    'maximum number of knowledge spaces of one tenant',
  ),
  quotas: defineSetting<QuotaSetting>(
    'QUOTAS',
    {},
    readQuotas,
    'quotas of every space instead of those in its manifest, as {"maxNodeCount": 100000}',
  ),
  retentionIntervalMinutes: defineSetting(
    'RETENTION_INTERVAL_MINUTES',
    60,
    readPositiveNumber,
    'interval of the clean-up by retention policies',
  ),
  retentionBatchRows: defineSetting(
    'RETENTION_BATCH_ROWS',
    200,
    createIntegerReader(1),
    'maximum number of rows that one transaction of the clean-up removes',
  ),
  egressAllow: defineSetting(
    'EGRESS_ALLOW',
    emptyList<string>(),
    readAddressRanges,
    'addresses and CIDR ranges outside the public internet that sources and images of chat messages may be fetched from',
  ),
  chatPages: defineSetting(
    'CHAT_PAGES',
    emptyList<string>(),
    readTexts,
    'chat applications that are public at /chat/ID for everyone who can reach the daemon: an id, or tenant/id',
  ),
  chatPageFrames: defineSetting(
    'CHAT_PAGE_FRAMES',
    emptyList<string>(),
    readOrigins,
    'sites that may embed these pages in a frame, as https://name',
  ),
  trustedProxies: defineSetting(
    'TRUSTED_PROXIES',
    emptyList<string>(),
    readAddressRanges,
    'proxies whose X-Forwarded-For names the client',
  ),
  rateLimit: defineSetting('RATE_LIMIT', 0, createIntegerReader(0), 'requests per minute and token; 0 for no limit'),
  providers: defineSetting(
    'PROVIDERS',
    emptyList<ProviderSetting>(),
    readProviders,
    'model providers: a list of {pluginId, provider, baseUrl, apiKeyEnv, …}',
  ),
  defaultEmbedding: defineSetting<ModelSetting>(
    'DEFAULT_EMBEDDING',
    { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' },
    readModel,
    'embedding model of spaces that name none, as pluginId/provider/model',
  ),
  defaultGenerator: defineSetting<ModelSetting>(
    'DEFAULT_GENERATOR',
    { pluginId: 'builtin', provider: 'extractive', model: 'extractive' },
    readModel,
    'model that answers where a space names none, as pluginId/provider/model',
  ),
  visionModel: defineSetting<OptionalSetting<ModelSetting>>(
    'VISION_MODEL',
    undefined,
    readModel,
    'model that describes pictures of documents, as pluginId/provider/model; default none: no picture is sent to a model',
  ),
  defaultSpeech: defineSetting<OptionalSetting<ModelSetting>>(
    'DEFAULT_SPEECH',
    undefined,
    readModel,
    'model that reads texts aloud where a chat application names none, as pluginId/provider/model',
  ),
  defaultTranscription: defineSetting<OptionalSetting<ModelSetting>>(
    'DEFAULT_TRANSCRIPTION',
    undefined,
    readModel,
    'model that transcribes recordings, and speech in chat applications that name none; as pluginId/provider/model',
  ),
  jwtJwksUrl: defineSetting<OptionalSetting<string>>(
    'JWT_JWKS_URL',
    undefined,
    readWebAddress,
    'URL of the public keys of an identity provider',
  ),
  jwtPublicKeyFile: defineSetting<OptionalSetting<string>>(
    'JWT_PUBLIC_KEY_FILE',
    undefined,
    readLocalPath,
    'PEM file with the public key of an identity provider',
  ),
  jwtIssuer: defineSetting<OptionalSetting<string>>(
    'JWT_ISSUER',
    undefined,
    readText,
    'issuer that outside tokens must name',
  ),
  jwtAudience: defineSetting<OptionalSetting<string>>(
    'JWT_AUDIENCE',
    undefined,
    readText,
    'audience that outside tokens must name',
  ),
  jwtTenantClaim: defineSetting('JWT_TENANT_CLAIM', 'tenant', readNonEmptyText, 'claim that holds the tenant'),
  jwtScopeClaim: defineSetting('JWT_SCOPE_CLAIM', 'scope', readNonEmptyText, 'claim that holds the scopes'),
  jwtLocalTokens: defineSetting<OptionalSetting<boolean>>(
    'JWT_LOCAL_TOKENS',
    undefined,
    readFlag,
    'accept tokens signed by the data directory; default yes, unless an identity provider is configured',
  ),
  idleExitMinutes: defineSetting(
    'IDLE_EXIT_MINUTES',
    30,
    readPositiveNumber,
    'idle time after which a daemon started by the CLI exits',
  ),
  stopSeconds: defineSetting(
    'STOP_SECONDS',
    20,
    readPositiveNumber,
    'maximum duration of an orderly stop; what still runs then is killed, and nothing acknowledged is lost',
  ),
  logLevel: defineSetting<LogLevel>(
    'LOG_LEVEL',
    'info',
    createChoiceReader(['debug', 'info', 'warn', 'error']),
    'lowest level that is logged',
  ),
} as const

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type SettingName = keyof typeof SETTINGS

export type Settings = { [N in SettingName]: ReturnType<(typeof SETTINGS)[N]['read']> }

function defineSetting<T>(env: string, fallback: T, read: (value: unknown) => T, doc: string): SettingDefinition<T> {
  return { env: `KS_DAEMON_${env}`, default: fallback, doc, read }
}

function emptyList<T>(): readonly T[] {
  return []
}
