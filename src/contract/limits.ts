/** Every number of the API documents' limits, named once. Free of zod. Bytes, milliseconds and counts. */
export const LIMITS = {
  spaceName: 160,
  spaceDescription: 2000,
  /** the documents bound neither slugs nor names of models: these only keep a request from filling a row */
  slug: 2000,
  page: { default: 100, cap: 1000 },
  documentsPage: { default: 50, max: 100 },
  evidencePage: { default: 25, max: 100 },
  statsWindowMinutes: { default: 60, max: 1440 },
  queryText: 16_000,
  activeIds: 100,
  activeEntityId: 200,
  topK: 50,
  /** how long one stream of changes goes on: after that the caller is looked at anew */
  changesSeconds: { min: 1, max: 3600 },
  searchResults: { default: 10, max: 100 },
  cursor: 1024,
  treeDepth: 8,
  grepQuery: 4000,
  grepTimeoutMs: { default: 2000, max: 10_000 },
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
  /** spaces of one bundle, and bytes of one */
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
  /** texts of one list of an expected answer, and characters of one of them */
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
  /** captures past it make room by dropping the row that was settled longest ago */
  failedQueriesPerSpace: 10_000,
  sourcesPage: { default: 50, max: 200 },
  sourcesPerSpace: 1000,
  sourceName: 200,
  /** the documents bound none of these three */
  sourceUri: 4096,
  permissionScope: 200,
  permissionScopes: 100,
  /** pages or files of one import */
  importItems: 200,
  pageName: 200,
  driveFileName: 255,
  /** the documents give no default */
  driveKeys: { default: 1000, max: 1000 },
  /** the documents bound neither ids of pages and files nor names of buckets */
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
  /** entities and relations: a picture of a whole graph reads all of them */
  graphList: { default: 50, max: 500 },
  /** tokens that reading a whole space for its graph may cost */
  graphReadingTokens: { min: 1000, max: 1_000_000_000, default: 500_000 },
  /** the documents do not bound these */
  namedTopicsPerSpace: 1000,
  /** names, slugs and versions of semantic views */
  viewName: 120,
  viewItems: { default: 50, max: 100 },
  catBytes: { default: 1024 * 1024, max: 16 * 1024 * 1024 },
  /** issues of one fsck page, candidates of one gc dry run */
  reportEntries: 1000,
  /** candidates of one gc execute call */
  gcCandidates: 100,
  gcReason: 1000,
  /** one file of an agent's workspace; what JSON escapes makes it longer, and a body ends at `jsonBody` */
  workspaceFileBytes: 1024 * 1024,
  /** of one space, all its workspaces together */
  workspaceFiles: 10_000,
  workspaceBytes: 256 * 1024 * 1024,
  /** overwritten versions that listings under way may still show; the oldest go first */
  workspaceHistoryBytes: 64 * 1024 * 1024,
  workspaceName: 255,
  snapshotName: 200,
  snapshotsPerSpace: 1000,
  /** files that all snapshots of a space hold, each counted as often as it is frozen */
  snapshotBytes: 1024 * 1024 * 1024,
  /** last queries of a session that a snapshot keeps */
  snapshotQueries: 100,
  snapshotsPage: { default: 50, max: 200 },
  localPath: 4096,
  fingerprint: 120,
  /** files of one request */
  localFiles: 2000,
  localFilesPage: { default: 100, max: 1000 },
  watches: 100,
  watchPattern: 1024,
  watchPatterns: 200,
  /** milliseconds between two polls of a watched folder */
  pollMs: { min: 1000, max: 3_600_000 },
} as const
