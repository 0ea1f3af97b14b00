/** All limits of the API, in bytes, milliseconds or counts. "The documents" are those that specify it. Free of zod. */
export const LIMITS = {
  spaceName: 160,
  spaceDescription: 2000,
  /** The documents limit neither slugs nor model names; this limit only prevents oversized rows. */
  slug: 2000,
  page: { default: 100, cap: 1000 },
  documentsPage: { default: 50, max: 100 },
  evidencePage: { default: 25, max: 100 },
  statsWindowMinutes: { default: 60, max: 1440 },
  queryText: 16_000,
  activeIds: 100,
  /** Spaces of one question: named in the request, and at most when it names none. */
  querySpaces: { named: 16, all: 64 },
  /** Paths and patterns of a document filter. */
  filterPaths: 100,
  activeEntityId: 200,
  topK: 50,
  /** Duration of one stream of changes; the caller is authorized again afterwards. */
  changesSeconds: { min: 1, max: 3600 },
  searchResults: { default: 10, max: 100 },
  cursor: 1024,
  treeDepth: 8,
  grepQuery: 4000,
  grepTimeoutMs: { default: 2000, max: 10_000 },
  /** Lines before and after a matching line. */
  grepContextLines: 100,
  findNameContains: 240,
  findMetadataKey: 120,
  findMetadataValue: 4000,
  variantName: 64,
  itemId: 1024,
  virtualPathBytes: 1024,
  idempotencyKey: 512,
  traceId: 128,
  modelReferencePart: 2000,
  uploadBytes: 512 * 1024 * 1024,
  bulkFiles: 1000,
  bulkBytes: 2 * 1024 * 1024 * 1024,
  assetBytes: 32 * 1024 * 1024,
  spacesPerTenant: 1000,
  /** Spaces per bundle, and bytes of a bundle. */
  bundleSpaces: 100,
  bundleBytes: 1024 * 1024 * 1024 * 1024,
  jsonBody: 4 * 1024 * 1024,
  filename: 1024,
  documentIds: 10_000,
  checkItems: 2000,
  qualityTracesPage: { default: 50, max: 100 },
  qualityQuery: 500,
  missingReason: 2000,
  goldenPerSpace: 10_000,
  goldenQuestion: 4000,
  goldenTag: 80,
  /** Questions of a golden run that run at once. */
  goldenConcurrency: { default: 4, max: 16 },
  /** Texts per list of an expected answer, and characters per text. */
  expectedTexts: 20,
  expectedText: 500,
  evidenceRelevance: 50,
  annotationNote: 1000,
  badCaseReason: 1000,
  badCaseTags: 20,
  failedQueriesPage: { default: 50, max: 200 },
  failedClusters: { default: 200, max: 1000 },
  /** the documents give no default */
  triageBatch: { default: 50, max: 200 },
  verdictEvidenceIds: 100,
  failedQueryNote: 2000,
  /** At the limit, a new capture replaces the query that was settled longest ago. */
  failedQueriesPerSpace: 10_000,
  sourcesPage: { default: 50, max: 200 },
  sourcesPerSpace: 1000,
  sourceName: 200,
  /** The documents limit neither these addresses nor permission scopes and their number. */
  sourceUri: 4096,
  permissionScope: 200,
  permissionScopes: 100,
  /** Pages or files per import. */
  importItems: 200,
  pageName: 200,
  driveFileName: 255,
  /** the documents give no default */
  driveKeys: { default: 1000, max: 1000 },
  /** The documents limit neither ids of pages and files nor names of buckets. */
  remoteId: 4096,
  bucketName: 255,
  syncEveryHours: 720,
  syncTimesOfDay: 24,
  traversal: {
    depth: { min: 1, max: 2, default: 2 },
    fanout: { min: 1, max: 50, default: 20 },
    maxNodes: { min: 1, max: 200, default: 50 },
    timeoutMs: { min: 1, max: 5000, default: 250 },
  },
  graphPage: { default: 50, max: 100 },
  /** Entities and relations; a drawing of a complete graph lists all of them. */
  graphList: { default: 50, max: 500 },
  /** Model tokens for reading a complete space for its graph. */
  graphReadingTokens: { min: 1000, max: 1_000_000_000, default: 500_000 },
  /** The documents do not limit this. */
  namedTopicsPerSpace: 1000,
  /** Names, slugs and versions of semantic views. */
  viewName: 120,
  viewItems: { default: 50, max: 100 },
  catBytes: { default: 1024 * 1024, max: 16 * 1024 * 1024 },
  /** Issues of one fsck page, candidates of one gc dry run. */
  reportEntries: 1000,
  /** candidates of one gc execute call */
  gcCandidates: 100,
  gcReason: 1000,
  /** One file of an agent's workspace. JSON escapes make it longer, and `jsonBody` limits the body. */
  workspaceFileBytes: 1024 * 1024,
  /** All workspaces of a space together. */
  workspaceFiles: 10_000,
  workspaceBytes: 256 * 1024 * 1024,
  /** Overwritten versions that running listings may still show; the oldest are removed first. */
  workspaceHistoryBytes: 64 * 1024 * 1024,
  workspaceName: 255,
  snapshotName: 200,
  snapshotsPerSpace: 1000,
  /** Files of all snapshots of a space, counted once per snapshot. */
  snapshotBytes: 1024 * 1024 * 1024,
  /** The latest queries of a session, recorded in a snapshot. */
  snapshotQueries: 100,
  snapshotsPage: { default: 50, max: 200 },
  localPath: 4096,
  fingerprint: 120,
  /** Files per request. */
  localFiles: 2000,
  skipReason: 1000,
  localFilesPage: { default: 100, max: 1000 },
  watches: 100,
  watchPattern: 1024,
  watchPatterns: 200,
  /** Interval between polls of a watched folder, in milliseconds. */
  pollMs: { min: 1000, max: 3_600_000 },
} as const
