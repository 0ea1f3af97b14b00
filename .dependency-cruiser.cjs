/** Who may import whom, and why. See ARCHITECTURE.md, "Map". */
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** A package and the only files that may load it. */
const only = (name, comment, packages, files) =>
  never(
    name,
    comment,
    { path: '^(src|bin)/', pathNot: files },
    { path: packages.map((packageName) => `node_modules/${packageName}(/|$)`) },
  )

/**
 * The modules of the engine by floor, from the ground up. A module imports modules of lower floors, as values or as
 * types; those of one floor do not know each other.
 */
const FLOORS = [
  ['base'],
  ['models', 'store'],
  ['search', 'readers'],
  ['library'],
  ['ingest', 'knowledge'],
  ['retrieval'],
  ['answers', 'files', 'upkeep'],
]
/** what puts the modules together */
const TOP = '^src/engine/(operations|api|background-services|engine|index)\\.ts$'
/** modules whose files are imported by path: a ground of small files, and rows by subject */
const GROUND = ['base', 'store']

const folder = (module) => `^src/engine/${module}/`

const modules = FLOORS.flatMap((floor, at) =>
  floor.map((module) => ({ module, above: FLOORS.slice(at).flat().filter((other) => other !== module) })),
)

const floors = modules.map(({ module, above }) =>
  never(
    `floor-of-${module}`,
    `Imports of the engine run downwards, and this one leaves ${module} upwards or sideways (FLOORS in .dependency-cruiser.cjs). Move what is shared below both, or pass it in.`,
    { path: folder(module) },
    { path: [...above.map(folder), TOP] },
  ),
)

const doors = modules
  .filter(({ module }) => !GROUND.includes(module))
  .map(({ module }) =>
    never(
      `door-of-${module}`,
      `What ${module} offers to others is exported by its index.ts. Export the name there, or do without it.`,
      // `ks read` has a reading process of its own, which loads one file
      { path: '^src/', pathNot: [folder(module), '^src/cli/read/reader\\.ts$'] },
      { path: folder(module), pathNot: `${folder(module)}index\\.ts$` },
    ),
  )

module.exports = {
  forbidden: [
    ...floors,
    ...doors,
    never(
      'engine-has-modules',
      'Every folder of the engine is a module with a floor: name a new one in FLOORS of .dependency-cruiser.cjs.',
      { path: '^src/engine/', pathNot: [...FLOORS.flat().map(folder), TOP] },
      {},
    ),
    never(
      'base-is-the-ground',
      'Every module stands on base. What needs another part of the engine is no ground for it.',
      { path: '^src/engine/base/' },
      { path: '^src/(?!engine/base/|contract/|lib/|local/)' },
    ),
    never(
      'api-is-a-facade',
      'api.ts names all modules, so whoever imports it depends on all of them. Name the type in the module that has it, or in base.',
      { path: '^src/engine/', pathNot: '^src/engine/(engine|index)\\.ts$' },
      { path: '^src/engine/(api|engine|index)\\.ts$' },
    ),
    never(
      'store-knows-no-module',
      'The store keeps rows and bytes of whatever module: it takes what it needs as parameters.',
      { path: '^src/engine/store/' },
      { path: '^src/(?!engine/(store|base)/|contract/|lib/|local/)' },
    ),
    never(
      'no-circular',
      'Two modules that need each other are one module, or share a third one: move what both need there.',
      {},
      { circular: true },
    ),
    never(
      'no-orphans',
      'Nothing imports this file and it is no entry. Delete it, or name it as an entry here and in knip.json.',
      {
        orphan: true,
        path: '^src/',
        pathNot: ['^src/commands/', '\\.d\\.ts$'],
      },
      {},
    ),
    never(
      'no-dev-dependency',
      'What runs at the user is a dependency, not a devDependency.',
      // the console is bundled: what it is made of is not installed at the user
      { path: '^(src|bin)/', pathNot: '^src/console/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    never('no-unresolvable', 'The import points nowhere.', {}, { couldNotResolve: true }),
    never(
      'src-not-to-test',
      'Product code does not know its tests, benches or scripts. (bin/dev.js builds before it runs; it is for developers.)',
      { path: '^(src|bin)/', pathNot: '^bin/dev\\.js$' },
      { path: '^(test|bench|scripts)/' },
    ),
    never(
      'lib-is-alone',
      'lib holds pure helpers. Code that needs the contract or the engine belongs beside them.',
      { path: '^src/lib/' },
      { path: '^src/(?!lib/)' },
    ),
    never(
      'contract-is-data',
      'The contract says what the API is; what it does belongs to the engine, how it is served to the daemon.',
      { path: '^src/contract/' },
      { path: '^src/(?!contract/|lib/)' },
    ),
    never(
      'engine-knows-no-http',
      'The engine throws KsError and yields events. Statuses, headers and requests belong to src/daemon.',
      { path: '^src/engine/' },
      { path: '^src/(daemon|client|mcp|cli|commands|kchat)/' },
    ),
    never(
      'contract-as-types',
      'Only errors.ts, golden-case.ts, limits.ts and values.ts of the contract are free of zod. Take the rest as types (`import type`).',
      {
        path: '^src/(engine|client|cli|commands|console|kchat|local)/',
        // loaded only by `ks api` and `--json-schema`, and for a field of `--fields` that neither columns nor items have
        pathNot: '^src/cli/(api|json-output)/',
      },
      {
        path: '^src/contract/',
        pathNot: '^src/contract/((chat/)?(errors|limits|values)|golden-case)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    ),
    never(
      'plain-contract-files',
      'These files are loaded by every command: what they import must be as free of zod as they are.',
      { path: '^src/contract/(chat/)?(errors|limits|values)\\.ts$' },
      { path: 'node_modules/zod(/|$)', reachable: true },
    ),
    never(
      'daemon-to-engine-surface',
      'The daemon uses the engine through api.ts and base (types) and index.ts (openEngine). Widen those, or move the code.',
      { path: '^src/daemon/' },
      { path: '^src/engine/', pathNot: '^src/engine/(index|api)\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'daemon-is-no-client',
      'The daemon serves; the command line and its client are on the other side of HTTP.',
      { path: '^src/daemon/' },
      { path: '^src/(client|cli|commands|kchat)/' },
    ),
    never(
      'client-is-thin',
      'The client speaks HTTP. It shares the contract (as types), lib and local with the daemon, nothing else.',
      { path: '^src/client/' },
      { path: '^src/(engine|daemon|mcp|cli|commands|kchat)/' },
    ),
    never(
      'console-is-a-page',
      'The console runs in a browser: it shares the contract (as types), how an address is put together, and nothing else.',
      { path: '^src/console/' },
      { path: '^src/(?!console/|contract/|client/routes\\.ts$)' },
    ),
    never(
      'visitors-load-no-console',
      'The page of visitors is small: what it shares with the console must not load its router, session and pages.',
      { path: '^src/console/(chat|visitor)/' },
      { path: '^src/console/', pathNot: '^src/console/(chat/|visitor/|style/|ui/icon\\.tsx$)' },
    ),
    never(
      'console-has-no-node',
      'The console runs in a browser, which has no built-in modules of Node.',
      { path: '^src/console/' },
      { dependencyTypes: ['core'] },
    ),
    never(
      'console-is-served-as-files',
      'The console is built on its own and served as files; nothing else imports its modules.',
      { path: '^(src|bin)/', pathNot: '^src/console/' },
      { path: '^src/console/' },
    ),
    never(
      'cli-has-no-second-way-in',
      'The command line reaches the engine over HTTP only, local or remote. Add an operation or use the client.',
      // `ks daemon start --foreground` is the daemon itself in the foreground; `ks read` has a reading process of its own and no space
      { path: '^src/(cli|commands|kchat)/', pathNot: '^src/(commands/daemon/start|cli/read/reader)\\.ts$' },
      { path: '^src/(engine|daemon)/', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'mcp-stands-on-the-client',
      'The Model Context Protocol is served from the operations of the contract, over whatever way calls them: it has no second way in.',
      { path: '^src/mcp/' },
      { path: '^src/(engine|daemon|cli|commands|kchat|local)/' },
    ),
    never(
      'mcp-loaded-when-asked',
      'A daemon that nobody asks by MCP, and every command but `ks mcp`, loads nothing of it: `await import(…)` where it is served.',
      { path: '^(src|bin)/', pathNot: '^src/mcp/' },
      { path: '^src/mcp/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    only('mcp-sdk-in-mcp', 'What else speaks the protocol goes through src/mcp.', ['@modelcontextprotocol'], ['^src/mcp/']),
    never(
      'cli-not-to-commands',
      'What two commands share lives in src/cli; src/cli does not know single commands.',
      { path: '^src/cli/' },
      { path: '^src/(commands|kchat)/' },
    ),
    never(
      'commands-and-kchat-apart',
      'The two programs share src/cli, not each other.',
      { path: '^src/(commands)/' },
      { path: '^src/kchat/' },
    ),
    never(
      'local-is-shared',
      'src/local is what is on this machine, for the daemon and the command line alike. It knows neither.',
      { path: '^src/local/' },
      { path: '^src/(engine|daemon|client|mcp|cli|commands|kchat)/' },
    ),
    never(
      'children-have-no-database',
      'Processes and workers beside the daemon get their input by message. The one writer of SQLite is the daemon.',
      { path: '^src/engine/(search/index-child|search/graph-worker|readers/|models/builtin/.*(worker|child))' },
      { path: '^src/engine/store/database\\.ts$', reachable: true },
    ),
    never(
      'statements-in-rows',
      'Statements are written in `rows` of the module that uses them, by subject; those that several modules use in src/engine/store/rows; those on the tables of the search adapter beside it. Other code puts programs together (`import type` of their types).',
      { path: '^src/', pathNot: '^src/engine/(store|search/postgres|[a-z]+/rows)/' },
      { path: '^src/engine/store/program\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    only(
      'sqlite-in-few-places',
      'SQL goes through store/database.ts; threads, fts5, the lock, backups and the look at a store before it is opened open files of their own.',
      ['better-sqlite3'],
      ['^src/engine/store/(database|store-identity|sqlite-snapshot|writer|statements|migrate|pragmas|sql-errors|(checkpoint|page-check)\\.worker)\\.ts$', '^src/engine/search/.*fts5', '^src/local/(lock|backup/database)\\.ts$'],
    ),
    only(
      'postgres-in-one-place',
      'Programs run on PostgreSQL through store/postgres/postgres.ts.',
      ['pg'],
      ['^src/engine/store/postgres/'],
    ),
    only(
      'native-indexes-in-search',
      'hnswlib and Tantivy can abort the process, so they run in the index process: use the ports in search/ports.ts.',
      ['hnswlib-node', '@oxdev03'],
      ['^src/engine/search/'],
    ),
    only(
      'undici-for-outgoing-requests',
      'undici is for what the engine fetches. The command line uses node:http, which starts faster.',
      ['undici'],
      ['^src/engine/models/'],
    ),
    only('http-framework-in-daemon', 'Only the daemon serves HTTP.', ['hono', '@hono', 'busboy'], ['^src/daemon/']),
    only(
      'oclif-in-cli',
      'oclif is the frame of `ks`; everything else is usable without it.',
      ['@oclif'],
      ['^src/(cli|commands)/', '^bin/ks\\.js$'],
    ),
    only(
      'zod-at-the-edge',
      'zod costs 100 ms of start-up. It is loaded by the contract, the daemon, `ks api`, `--json-schema` and what serves MCP; inside, types are trusted.',
      ['zod'],
      ['^src/(contract|daemon|mcp|cli/api|cli/json-output)/'],
    ),
    never(
      'loaded-when-needed',
      'Few commands run programs or poll disks, few daemons have a server of PostgreSQL, and every command would load these: `await import(…)` where it is done.',
      { path: '^(src|bin)/' },
      { path: 'node_modules/(execa|chokidar|pg)(/|$)', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    only('commander-in-programs', 'ksd and kchat are the commander programs.', ['commander'], ['^src/(daemon|kchat)/', '^bin/']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
    exclude: { path: '^(dist|docs)/' },
  },
}
