import { z } from 'zod'
import { Community } from '../../contract/gateway/communities.js'
import { CatResult } from '../../contract/gateway/fs.js'
import { Watch } from '../../contract/gateway/local-files.js'
import { ModelUsage } from '../../contract/gateway/system.js'
import { metadata, positive, uuid } from '../../contract/primitives.js'
import { AnswerOutput, QuickstartOutput, SearchedFileRow, SearchRow } from './answers.js'
import * as daemon from './daemon.js'
import * as documents from './documents.js'
import * as machine from './machine.js'
import * as models from './models.js'
import { forms, items, reply } from './operations.js'
import * as quality from './quality.js'

/** What a command prints with `--json`, or why it prints no JSON. */
type CommandOutput = z.ZodType | string

const path = z.string()
const report = reply('getResearchReport')
const goldenQuestion = reply('getGoldenQuestion')
const graphReading = reply('getGraphReading')

/** What each command prints on stdout with `--json`, by its id with colons. */
export const COMMAND_OUTPUTS: Readonly<Record<string, CommandOutput>> = {
  alias: forms({ 'without NAME': z.array(machine.AliasRow), NAME: machine.AliasRow }),
  api: forms({
    '--list': z.array(machine.OperationRow),
    '--describe': z.strictObject({
      paths: z.record(z.string(), z.record(z.string(), metadata)).describe('as in an OpenAPI description'),
      components: metadata,
    }),
  }),
  'auth:login': machine.StoredLogin,
  'auth:logout': machine.DeletedLogin,
  'auth:status': machine.TokenStatus,
  'auth:token': forms({ 'without --revoke': machine.CreatedTokenOutput, '--revoke': machine.RevokedToken }),
  backup: machine.BackupOutput,
  'bundle:export': machine.ExportedBundle,
  'bundle:import': reply('importBundle'),
  completion: forms({ '--install': machine.CompletionInstallation, '--uninstall': machine.CompletionRemoval }),
  config: forms({
    'without KEY': z.array(machine.SettingRow),
    KEY: machine.SettingRow,
    '--path': machine.SettingPaths,
    '--allow-programs': z.array(z.array(z.string()).min(1)),
  }),
  conflicts: items('listSpaceConflicts'),
  console: machine.ConsoleOutput,
  context: forms({
    'without NAME': z.array(machine.ContextRow),
    '--show': machine.CurrentContext,
    'NAME --url': machine.AddedContext,
  }),
  daemon: forms({ running: daemon.RunningDaemonStatus, 'not running': daemon.StoppedDaemonStatus }),
  'daemon:exec': 'it prints the output of the command that it runs',
  'daemon:install': forms({
    'without --uninstall': daemon.ServiceInstallation,
    '--dry-run': daemon.ServicePlan,
    '--uninstall': daemon.ServiceRemoval,
  }),
  'daemon:logs': forms({ 'without --follow': z.array(daemon.LogLine), '--follow, a line for each': daemon.LogLine }),
  'daemon:restart': daemon.DaemonFileOutput,
  'daemon:start': forms({ 'without --foreground': daemon.DaemonFileOutput, '--foreground': daemon.ReadyDaemon }),
  'daemon:stop': daemon.DaemonStopOutput,
  docs: forms({ 'without --skipped': items('listDocuments'), '--skipped': items('listSkippedFiles') }),
  'docs:delete': forms({
    'without --dry-run': items('deleteDocuments'),
    '--dry-run': z.array(z.strictObject({ documentId: uuid })),
  }),
  'docs:reindex': z.array(documents.ReindexRow),
  'docs:show': forms({
    'without --as': reply('getDocument'),
    ...documents.CONTENT_FORMS,
    '--as outline': items('getDocumentOutline', 'nodes'),
    '--as elements': reply('getParseArtifact'),
    '--as items': items('getMultimodalManifest'),
    '--table': documents.TableCellsOutput,
  }),
  doctor: forms({ 'without --languages': z.array(machine.CheckFinding), '--languages': z.array(machine.LanguageRow) }),
  failed: forms({
    'without --clusters and --counts': items('listFailedQueries'),
    '--clusters': items('listFailedQueryClusters', 'clusters'),
    '--counts': reply('getFailedQueryMetrics'),
  }),
  'failed:triage': forms({ ID: reply('decideFailedQuery'), 'without ID': reply('triageFailedQueries') }),
  'fs:cat': forms({ 'one path': CatResult, 'several paths': z.array(CatResult) }),
  'fs:find': items('fsFind'),
  'fs:grep': forms({
    'without --count and --files-with-matches': items('fsGrep', 'matches'),
    '--count': z.array(z.strictObject({ path, count: positive })),
    '--files-with-matches': z.array(z.strictObject({ path })),
  }),
  'fs:ls': items('fsLs'),
  'fs:mv': reply('fsMv'),
  'fs:rm': reply('fsRm'),
  'fs:sh': machine.ScriptOutput,
  'fs:tree': reply('fsTree'),
  'fs:write': reply('fsWrite'),
  fsck: forms({
    'without --repair and --all': items('fsck', 'issues'),
    '--repair': items('fsckRepair'),
    '--all': z.array(quality.CheckedSpace),
    '--all --repair': z.array(quality.RepairedSpace),
  }),
  gc: forms({
    'without --execute and --all': items('gcDryRun', 'candidates'),
    '--execute': items('gcExecute'),
    '--all': z.array(quality.GcCandidateSpace),
    '--all --execute': z.array(quality.GcRemovalSpace),
  }),
  golden: forms({
    'without ID': items('listGoldenQuestions'),
    ID: goldenQuestion,
    '--runs': items('listGoldenRuns'),
    '--export': z.array(quality.ExportedQuestion),
  }),
  'golden:add': forms({ 'QUESTION or --trace': goldenQuestion, '--file': quality.GoldenImport }),
  'golden:delete': machine.Deletion,
  'golden:run': quality.GoldenReport,
  'golden:update': goldenQuestion,
  graph: forms({ 'without ENTITY': items('listGraphEntities'), ENTITY: reply('traverseGraph') }),
  'graph:communities': forms({ 'without SLUG': items('listCommunities'), SLUG: Community }),
  'graph:extract': forms({
    'without --all': reply('extractEntities'),
    '--all, --status or --cancel': graphReading,
    '--status before the first extraction': z.strictObject({}),
  }),
  help: 'it prints text for people',
  ingest: z.array(documents.IngestRecord),
  jobs: items('listJobs'),
  'jobs:cancel': reply('cancelJob'),
  'jobs:retry': items('retryFailedJobs', 'jobs'),
  'jobs:show': forms({
    'ID of a job': reply('getJob'),
    'ID of a bulk job': reply('getBulkJob'),
    '--wait': z.array(quality.WatchedJob),
  }),
  mcp: 'it speaks the Model Context Protocol',
  'mcp:install': machine.McpEntryChange,
  models: ModelUsage,
  'models:add': forms({ NAME: models.AddedProvider, 'without NAME': z.array(models.DetectedModelRow) }),
  'models:pull': forms({ MODEL: models.PulledModelOutput, '--list': z.array(models.CatalogueRow) }),
  'models:remove': models.RemovedModels,
  'models:test': z.array(models.ModelTestRow),
  query: AnswerOutput,
  quickstart: QuickstartOutput,
  read: forms({
    'without --as': documents.FileOutput,
    ...documents.CONTENT_FORMS,
    '--as outline': documents.FileOutline,
  }),
  research: items('listResearchTasks'),
  'research:cancel': reply('cancelResearchTask'),
  'research:show': forms({
    'without --report, --events and --evidence': reply('getResearchTask'),
    '--report or --wait': report,
    '--events': z.array(quality.ResearchEvent),
    '--evidence': items('listResearchPartials'),
  }),
  'research:start': forms({
    'without --wait and --dry-run': reply('createResearchTask'),
    '--wait': report,
    '--dry-run': reply('planResearchTask'),
  }),
  restore: machine.RestoreOutput,
  search: forms({
    'without --files-with-matches': z.array(SearchRow),
    '--files-with-matches': z.array(SearchedFileRow),
  }),
  sources: items('listSources'),
  'sources:add': reply('createSource'),
  'sources:delete': machine.Deletion,
  'sources:import': forms({ 'connector or drive': reply('importSourcePages'), 'web source': reply('crawlSource') }),
  'sources:show': forms({
    'without --files, --pages and --test': reply('getSource'),
    '--files': z.array(documents.SourceFileRow),
    '--pages': z.array(documents.SourcePageRow),
    '--test': reply('testSource'),
  }),
  'sources:update': reply('updateSource'),
  spaces: items('listKnowledgeSpaces'),
  'spaces:create': reply('createKnowledgeSpace'),
  'spaces:delete': machine.SpaceDeletion,
  'spaces:show': forms({
    'without --manifest and --profile': reply('getKnowledgeSpace'),
    '--manifest': reply('getKnowledgeSpaceManifest'),
    '--profile': reply('getRetrievalProfile'),
  }),
  'spaces:stats': reply('getKnowledgeSpaceStats'),
  'spaces:status': reply('getKnowledgeSpaceStatus'),
  'spaces:update': forms({
    '--name, --slug or --description': reply('updateKnowledgeSpace'),
    'flags of the retrieval profile': reply('setRetrievalProfile'),
    '--embedding of an empty space': reply('setEmbeddingProfile'),
    '--embedding of a space with documents, or --cancel-embedding': reply('startEmbeddingMigration'),
  }),
  top: forms({ '--once': daemon.TopRecord, 'a line for each interval': daemon.TopEvent }),
  traces: items('listQualityTraces'),
  'traces:show': forms({
    'without --evidence, --conflicts and --missing': reply('getTrace'),
    '--evidence, --conflicts or --missing': items('listTraceEvidence'),
  }),
  uninstall: machine.UninstallOutput,
  watch: forms({ 'without FOLDER': items('listWatches'), 'FOLDER, a line for each event': documents.WatchEvent }),
  'watch:add': reply('addWatch'),
  'watch:remove': Watch,
  why: reply('explainQuery'),
}
