import type { z } from 'zod'
import type { allRoutes } from './routes.js'

/** One request body of each operation that takes JSON, by operationId, as a client sends it. */

const SPACE = '01936f5e-7c1a-7d3e-9b52-4f6a8c0e2d11'
const SPACES = [SPACE, '01936f5e-9d3e-7a5b-8c70-6f8a0c2e4f33']
const DOCUMENTS = ['01936f5f-1a2b-7c4d-8e6f-0a1b2c3d4e5f', '01936f5f-2b3c-7d5e-9f70-1b2c3d4e5f60']
const PASSAGE = '01936f5f-3c4d-7e6f-8a71-2c3d4e5f6071'
const TRACE = '01936f5e-8b2c-7f4d-8a63-5e7b9d1f3c22'
const MESSAGE = '01936f60-4d5e-7f70-9b82-3d4e5f607182'
const SHA256 = '0e0a58d6fe9187cdc06626d0f8e43320fcced24920a133d71c8c91f2c4f5128b'

/** Models that every daemon has, except the migration target. */
const EMBEDDING = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const OTHER_EMBEDDING = { pluginId: 'openai-compatible', provider: 'ollama', model: 'nomic-embed-text' }
const CHAT_MODEL = { pluginId: 'builtin', provider: 'extractive', model: 'extractive' }
const END_USER = 'ida.keller'

type Route = (typeof allRoutes)[number]
type Examples = {
  readonly [R in Extract<Route, { body: z.ZodType }> as R['id']]: z.input<R['body']>
}

export const REQUEST_EXAMPLES: Examples = {
  createKnowledgeSpace: {
    name: 'Operations handbook',
    slug: 'operations-handbook',
    description: 'Rotas, runbooks and contracts of the operations team.',
    embeddingProfile: EMBEDDING,
  },
  updateKnowledgeSpace: { name: 'Handbook of operations', description: 'Rotas and runbooks.' },
  setEmbeddingProfile: EMBEDDING,
  startEmbeddingMigration: OTHER_EMBEDDING,
  setRetrievalProfile: {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK: 8,
    scoreThreshold: 0.2,
    reasoningModel: CHAT_MODEL,
    rerank: { enabled: true },
  },

  deleteDocuments: { documentIds: DOCUMENTS },
  reindexDocuments: { all: true },
  recordSkippedFiles: { files: [{ filename: 'scans/blank.pdf', reason: 'is empty', sizeBytes: 0 }] },
  checkDocuments: { items: [{ filename: 'runbooks/restore.md', sha256: SHA256 }] },
  fsWrite: { path: '/workspaces/audit/notes.md', content: 'Start with the contracts.\n' },
  fsMv: { oldPath: '/workspaces/audit/notes.md', newPath: '/workspaces/audit/old/notes.md' },
  createWorkspaceSnapshot: { knowledgeSpaceId: SPACE, workspace: 'audit', name: 'Before the review' },
  recordLocalFiles: {
    root: '/home/ida/handbook',
    files: [
      {
        filename: 'runbooks/restore.md',
        path: '/home/ida/handbook/runbooks/restore.md',
        fingerprint: '26-1735689600123456789-1735689600123456789-1183042',
        device: '66306',
        sizeBytes: 26,
        sha256: SHA256,
      },
    ],
    forget: ['runbooks/restore-2023.md'],
  },
  addWatch: { knowledgeSpaceId: SPACE, folder: '/home/ida/handbook', ignore: ['drafts/'], glob: ['**/*.md'] },

  createSource: {
    name: 'Public handbook',
    type: 'web',
    uri: 'https://example.com/handbook/',
    metadata: { parameters: { maxPages: 50, maxDepth: 3 }, syncPolicy: { everyHours: 24 } },
  },
  updateSource: { name: 'Handbook on the web', status: 'disabled', expectedVersion: 3 },
  importSourcePages: {
    pages: [{ pageId: 'docs/start.md', workspaceId: 'main', type: 'page', name: 'How to start' }],
  },
  importSourceFiles: { files: [{ id: 'notes/tides.md', name: 'tides.md', mimeType: 'text/markdown' }] },

  query: { knowledgeSpaceId: SPACE, query: 'Who is on call in August?', mode: 'fast' },
  searchSpace: { query: 'on call in August', limit: 5 },
  querySpaces: { knowledgeSpaceIds: SPACES, query: 'Who is on call in August?', filter: { paths: ['rotas/*'] } },
  searchSpaces: { query: 'on call in August', limit: 5 },
  explainQuery: { traceId: TRACE, path: '/knowledge/documents/rota.md', quote: 'Ida Keller is on call' },
  planResearchTask: {
    knowledgeSpaceId: SPACE,
    query: 'Which contracts end this year, and what does each say about notice?',
    mode: 'research',
    budgetUsd: 0.5,
  },
  createResearchTask: {
    knowledgeSpaceId: SPACE,
    query: 'Which contracts end this year, and what does each say about notice?',
    mode: 'research',
    topK: 12,
    budgetUsd: 0.5,
    limits: { maxRetrievalSteps: 20, timeoutMs: 300_000 },
    metadata: { requestedBy: 'quarterly review' },
  },
  materializeTopic: { topicName: 'Incident response', limit: 50 },
  extractEntities: { limit: 20 },
  startGraphReading: { budgetTokens: 200_000 },
  materializeCommunities: { generatedVersion: '2025-01' },

  createGoldenQuestion: {
    question: 'Who is on call in August?',
    expectedEvidenceIds: [PASSAGE],
    expect: { answer: ['Ida Keller'], not: ['Jon Berg'], state: 'answerable' },
    tags: ['rota'],
    metadata: { owner: 'operations' },
  },
  updateGoldenQuestion: { question: 'Who is on call in September?', tags: ['rota', 'autumn'] },
  annotateGoldenQuestion: {
    answerCorrectness: 'partially-correct',
    evidenceRelevance: [{ evidenceId: PASSAGE, relevant: true, note: 'names the person, not the number to call' }],
    note: 'The number to call is missing.',
  },
  createGoldenRun: { mode: 'fast', k: 10, tags: ['rota'] },
  createProductionBadCase: { traceId: TRACE, reason: 'The answer names the rota of last year.', tags: ['outdated'] },
  decideFailedQuery: {
    verdict: 'retrieval-miss',
    expectedEvidenceIds: [PASSAGE],
    note: 'The rota has it, under another term.',
  },
  reviewMissingEvidence: { expectedRevision: 0, status: 'dismissed', reason: 'Nobody keeps this in writing.' },

  fsckRepair: { dryRun: false, check: 'references', types: ['broken-path-target', 'missing-node-target'] },
  gcExecute: {
    candidates: [
      {
        candidateType: 'staged-object',
        count: 1,
        estimatedBytes: 48_213,
        idempotencyKey: 'gc-3e399c46e9652dadde7e51c0c0fa5ac9',
        reason: 'an upload that ended left this temporary file',
        target: { type: 'raw-object', id: DOCUMENTS[1], objectKey: `tmp/${DOCUMENTS[1]}` },
      },
    ],
  },
  updateTenantRetentionPolicy: { answerTraceRetentionDays: 90, sessionInactivityMinutes: 720 },
  updateSpaceRetentionPolicy: { rawDocumentRetentionDays: null, parseArtifactVersions: 2 },

  createChatApp: {
    name: 'Operations desk',
    description: 'Answers what the handbook knows.',
    knowledgeSpaceIds: [SPACE],
    instructions: 'Answer in the language of {{language}}, in three sentences at most.',
    openingStatement: 'What would you like to know?',
    suggestedQuestions: ['Who is on call in August?'],
    userInputForm: [
      { select: { label: 'Language', variable: 'language', required: true, options: ['English', 'Deutsch'] } },
    ],
    conversationVariables: [
      { name: 'site', valueType: 'string', description: 'which site is meant', default: 'north' },
    ],
  },
  updateChatApp: {
    model: CHAT_MODEL,
    modelSettings: { temperature: 0.2, maxTokens: 800 },
    sensitiveWords: {
      enabled: true,
      words: ['salary'],
      inputs: { enabled: true, response: 'I do not speak of salaries.' },
      outputs: { enabled: false, response: '' },
    },
  },
  sendChatMessage: {
    query: 'Who is on call in August?',
    inputs: { language: 'English' },
    response_mode: 'streaming',
    user: END_USER,
  },
  stopChatMessage: { user: END_USER },
  rateMessage: { rating: 'dislike', user: END_USER, content: 'This is the rota of last year.' },
  deleteConversation: { user: END_USER },
  changeConversation: { name: 'Rota of August', user: END_USER },
  renameConversation: { auto_generate: true, user: END_USER },
  setConversationVariable: { value: 'south', user: END_USER },
  changeConversationVariable: { value: 'south', user: END_USER },
  textToAudio: { message_id: MESSAGE, user: END_USER },
  createAnnotation: { question: 'When do you open?', answer: 'At nine, from Monday to Friday.' },
  updateAnnotation: { question: 'When do you open?', answer: 'At eight, from Monday to Friday.' },
  setAnnotationReply: { score_threshold: 0.9 },
}
