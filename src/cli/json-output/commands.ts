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
import { getItems, getReply, oneOf } from './operations.js'
import * as quality from './quality.js'

/** The schema of the JSON output of a command, or the reason why it has none. */
type CommandOutput = z.ZodType | string

const path = z.string()
const report = getReply('getResearchReport')
const goldenQuestion = getReply('getGoldenQuestion')
const graphReading = getReply('getGraphReading')

/** The JSON output of each command on stdout, by the id of the command with colons. */
export const COMMAND_OUTPUTS: Readonly<Record<string, CommandOutput>> = {
  alias: oneOf({ 'without NAME': z.array(machine.AliasRow), NAME: machine.AliasRow }),
  api: oneOf({
    '--list': z.array(machine.OperationRow),
    '--describe': z.strictObject({
      paths: z.record(z.string(), z.record(z.string(), metadata)).describe('as in an OpenAPI description'),
      components: metadata,
    }),
  }),
  'auth:login': machine.StoredLogin,
  'auth:logout': machine.DeletedLogin,
  'auth:status': machine.TokenStatus,
  'auth:token': oneOf({ 'without --revoke': machine.CreatedTokenOutput, '--revoke': machine.RevokedToken }),
  backup: machine.BackupOutput,
  'bundle:export': machine.ExportedBundle,
  'bundle:import': getReply('importBundle'),
  completion: oneOf({ '--install': machine.CompletionInstallation, '--uninstall': machine.CompletionRemoval }),
  config: oneOf({
    'without KEY': z.array(machine.SettingRow),
    KEY: machine.SettingRow,
    '--path': machine.SettingPaths,
    '--allow-programs': z.array(z.array(z.string()).min(1)),
  }),
  conflicts: getItems('listSpaceConflicts'),
  console: machine.ConsoleOutput,
  context: oneOf({
    'without NAME': z.array(machine.ContextRow),
    '--show': machine.CurrentContext,
    'NAME --url': machine.AddedContext,
  }),
  daemon: oneOf({ running: daemon.RunningDaemonStatus, 'not running': daemon.StoppedDaemonStatus }),
  'daemon:exec': 'it prints the output of the command that it runs',
  'daemon:install': oneOf({
    'without --uninstall': daemon.ServiceInstallation,
    '--dry-run': daemon.ServicePlan,
    '--uninstall': daemon.ServiceRemoval,
  }),
  'daemon:logs': oneOf({ 'without --follow': z.array(daemon.LogLine), '--follow, a line for each': daemon.LogLine }),
  'daemon:restart': daemon.DaemonFileOutput,
  'daemon:start': oneOf({ 'without --foreground': daemon.DaemonFileOutput, '--foreground': daemon.ReadyDaemon }),
  'daemon:stop': daemon.DaemonStopOutput,
  docs: oneOf({ 'without --skipped': getItems('listDocuments'), '--skipped': getItems('listSkippedFiles') }),
  'docs:delete': oneOf({
    'without --dry-run': getItems('deleteDocuments'),
    '--dry-run': z.array(z.strictObject({ documentId: uuid })),
  }),
  'docs:reindex': z.array(documents.ReindexRow),
  'docs:show': oneOf({
    'without --as': getReply('getDocument'),
    ...documents.CONTENT_FORMS,
    '--as outline': getItems('getDocumentOutline', 'nodes'),
    '--as elements': getReply('getParseArtifact'),
    '--as items': getItems('getMultimodalManifest'),
    '--table': documents.TableCellsOutput,
  }),
  doctor: oneOf({ 'without --languages': z.array(machine.CheckFinding), '--languages': z.array(machine.LanguageRow) }),
  failed: oneOf({
    'without --clusters and --counts': getItems('listFailedQueries'),
    '--clusters': getItems('listFailedQueryClusters', 'clusters'),
    '--counts': getReply('getFailedQueryMetrics'),
  }),
  'failed:triage': oneOf({ ID: getReply('decideFailedQuery'), 'without ID': getReply('triageFailedQueries') }),
  'fs:cat': oneOf({ 'one path': CatResult, 'several paths': z.array(CatResult) }),
  'fs:find': getItems('fsFind'),
  'fs:grep': oneOf({
    'without --count and --files-with-matches': getItems('fsGrep', 'matches'),
    '--count': z.array(z.strictObject({ path, count: positive })),
    '--files-with-matches': z.array(z.strictObject({ path })),
  }),
  'fs:ls': getItems('fsLs'),
  'fs:mv': getReply('fsMv'),
  'fs:rm': getReply('fsRm'),
  'fs:sh': machine.ScriptOutput,
  'fs:tree': getReply('fsTree'),
  'fs:write': getReply('fsWrite'),
  fsck: oneOf({
    'without --repair and --all': getItems('fsck', 'issues'),
    '--repair': getItems('fsckRepair'),
    '--all': z.array(quality.CheckedSpace),
    '--all --repair': z.array(quality.RepairedSpace),
  }),
  gc: oneOf({
    'without --execute and --all': getItems('gcDryRun', 'candidates'),
    '--execute': getItems('gcExecute'),
    '--all': z.array(quality.GcCandidateSpace),
    '--all --execute': z.array(quality.GcRemovalSpace),
  }),
  golden: oneOf({
    'without ID': getItems('listGoldenQuestions'),
    ID: goldenQuestion,
    '--runs': getItems('listGoldenRuns'),
    '--export': z.array(quality.ExportedQuestion),
  }),
  'golden:add': oneOf({ 'QUESTION or --trace': goldenQuestion, '--file': quality.GoldenImport }),
  'golden:delete': machine.Deletion,
  'golden:run': quality.GoldenReport,
  'golden:update': goldenQuestion,
  graph: oneOf({ 'without ENTITY': getItems('listGraphEntities'), ENTITY: getReply('traverseGraph') }),
  'graph:communities': oneOf({ 'without SLUG': getItems('listCommunities'), SLUG: Community }),
  'graph:extract': oneOf({
    'without --all': getReply('extractEntities'),
    '--all, --status or --cancel': graphReading,
    '--status before the first extraction': z.strictObject({}),
  }),
  help: 'it prints text for people',
  ingest: z.array(documents.IngestRecord),
  jobs: getItems('listJobs'),
  'jobs:cancel': getReply('cancelJob'),
  'jobs:retry': getItems('retryFailedJobs', 'jobs'),
  'jobs:show': oneOf({
    'ID of a job': getReply('getJob'),
    'ID of a bulk job': getReply('getBulkJob'),
    '--wait': z.array(quality.WatchedJob),
  }),
  mcp: 'it speaks the Model Context Protocol',
  'mcp:install': machine.McpEntryChange,
  models: ModelUsage,
  'models:add': oneOf({ NAME: models.AddedProvider, 'without NAME': z.array(models.DetectedModelRow) }),
  'models:pull': oneOf({ MODEL: models.PulledModelOutput, '--list': z.array(models.CatalogueRow) }),
  'models:remove': models.RemovedModels,
  'models:test': z.array(models.ModelTestRow),
  query: AnswerOutput,
  quickstart: QuickstartOutput,
  read: oneOf({
    'without --as': documents.FileOutput,
    ...documents.CONTENT_FORMS,
    '--as outline': documents.FileOutline,
  }),
  research: getItems('listResearchTasks'),
  'research:cancel': getReply('cancelResearchTask'),
  'research:show': oneOf({
    'without --report, --events and --evidence': getReply('getResearchTask'),
    '--report or --wait': report,
    '--events': z.array(quality.ResearchEvent),
    '--evidence': getItems('listResearchPartials'),
  }),
  'research:start': oneOf({
    'without --wait and --dry-run': getReply('createResearchTask'),
    '--wait': report,
    '--dry-run': getReply('planResearchTask'),
  }),
  restore: machine.RestoreOutput,
  search: oneOf({
    'without --files-with-matches': z.array(SearchRow),
    '--files-with-matches': z.array(SearchedFileRow),
  }),
  sources: getItems('listSources'),
  'sources:add': getReply('createSource'),
  'sources:delete': machine.Deletion,
  'sources:import': oneOf({
    'connector or drive': getReply('importSourcePages'),
    'web source': getReply('crawlSource'),
  }),
  'sources:show': oneOf({
    'without --files, --pages and --test': getReply('getSource'),
    '--files': z.array(documents.SourceFileRow),
    '--pages': z.array(documents.SourcePageRow),
    '--test': getReply('testSource'),
  }),
  'sources:update': getReply('updateSource'),
  spaces: getItems('listKnowledgeSpaces'),
  'spaces:create': getReply('createKnowledgeSpace'),
  'spaces:delete': machine.SpaceDeletion,
  'spaces:show': oneOf({
    'without --manifest and --profile': getReply('getKnowledgeSpace'),
    '--manifest': getReply('getKnowledgeSpaceManifest'),
    '--profile': getReply('getRetrievalProfile'),
  }),
  'spaces:stats': getReply('getKnowledgeSpaceStats'),
  'spaces:status': getReply('getKnowledgeSpaceStatus'),
  'spaces:update': oneOf({
    '--name, --slug or --description': getReply('updateKnowledgeSpace'),
    'flags of the retrieval profile': getReply('setRetrievalProfile'),
    '--embedding of an empty space': getReply('setEmbeddingProfile'),
    '--embedding of a space with documents, or --cancel-embedding': getReply('startEmbeddingMigration'),
  }),
  top: oneOf({ '--once': daemon.TopRecord, 'a line for each interval': daemon.TopEvent }),
  traces: getItems('listQualityTraces'),
  'traces:show': oneOf({
    'without --evidence, --conflicts and --missing': getReply('getTrace'),
    '--evidence, --conflicts or --missing': getItems('listTraceEvidence'),
  }),
  uninstall: machine.UninstallOutput,
  watch: oneOf({ 'without FOLDER': getItems('listWatches'), 'FOLDER, a line for each event': documents.WatchEvent }),
  'watch:add': getReply('addWatch'),
  'watch:remove': Watch,
  why: getReply('explainQuery'),
}
