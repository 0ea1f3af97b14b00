import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ChatAppBody } from '../../src/contract/chat/apps.js'
import { RetentionPolicyBody } from '../../src/contract/gateway/retention.js'
import { QuotaPolicy } from '../../src/contract/gateway/spaces.js'

const ROOT = join(import.meta.dirname, '../..')

/** A test file that observes the effect of a setting, and a part of that test. */
type Seen = readonly [file: string, words: string]

const QUOTAS = 'test/engine/upkeep/retention/quota.test.ts'
const SWEEP = 'test/engine/upkeep/retention/sweep.test.ts'
const CHAT = 'test/daemon/chat'

/** Settings of spaces, tenants and chat applications; those of the daemon: `test/daemon/setting-effects.test.ts`. */
const EFFECTS: Record<string, { names: readonly string[]; seen: Readonly<Record<string, Seen>> }> = {
  'a quota': {
    names: [
      ...Object.keys(QuotaPolicy.shape).filter((name) => name !== 'providerBudgets'),
      ...Object.keys(QuotaPolicy.shape.providerBudgets.shape),
    ],
    seen: {
      maxActiveJobCount: [QUOTAS, 'limit concurrent compilations of a space'],
      maxActiveSessionCount: [QUOTAS, 'limit open sessions'],
      maxArtifactBytes: [QUOTAS, 'fail a document whose artifact exceeds maxArtifactBytes'],
      maxGraphEntityCount: ['test/engine/knowledge/derived/graph/graph.test.ts', 'maxGraphEntityCount: 2'],
      maxGraphRelationCount: ['test/engine/knowledge/derived/graph/graph.test.ts', 'maxGraphRelationCount: 1'],
      maxNodeCount: ['test/daemon/limits.test.ts', 'quotas.maxNodeCount = 4'],
      maxProjectionCount: [QUOTAS, 'maxProjectionCount'],
      maxRawDocumentBytes: [QUOTAS, 'rejects uploads above the quota until some documents are deleted'],
      maxSegmentCount: [QUOTAS, 'maxSegmentCount'],
      maxTraceBytes: [QUOTAS, 'reject a query when traces fill their quota'],
      maxEmbeddingTokensPerDay: ['test/engine/models/guard.test.ts', 'maxEmbeddingTokensPerDay'],
      maxLlmTokensPerDay: ['test/engine/retrieval/query/degraded.test.ts', 'maxLlmTokensPerDay'],
      maxParserPagesPerDay: [QUOTAS, 'rejects uploads above the budget until the next day'],
      maxRerankRequestsPerDay: [
        'test/engine/retrieval/query/model-rerank.test.ts',
        'unused after the quota of rerank requests per day is spent',
      ],
    },
  },
  'a rule of a retention policy': {
    names: Object.keys(RetentionPolicyBody.shape),
    seen: {
      answerTraceRetentionDays: [SWEEP, 'removes traces older than the retention policy'],
      evidenceCacheRetentionDays: [
        'test/engine/answers/research/keeping.test.ts',
        'expires by evidenceCacheRetentionDays',
      ],
      inactiveProjectionRetentionDays: [SWEEP, 'passages of superseded versions and old publications'],
      parseArtifactVersions: [SWEEP, 'parse artifacts beyond the number of versions'],
      rawDocumentRetentionDays: [SWEEP, 'removes expired raw documents'],
      sessionInactivityMinutes: [SWEEP, 'removes idle sessions'],
    },
  },
  'a field of a chat application': {
    names: Object.keys(ChatAppBody.shape),
    seen: {
      name: [`${CHAT}/service.test.ts`, 'serves info, parameters, meta and site'],
      description: [`${CHAT}/service.test.ts`, 'serves info, parameters, meta and site'],
      tags: [`${CHAT}/service.test.ts`, 'serves info, parameters, meta and site'],
      site: [`${CHAT}/service.test.ts`, 'serves info, parameters, meta and site'],
      mode: [`${CHAT}/agent.test.ts`, 'an agent lists, searches and reads'],
      enabled: [`${CHAT}/turns.test.ts`, 'stop working when revoked, disabled or deleted'],
      knowledgeSpaceIds: [`${CHAT}/service.test.ts`, 'returns a blocking answer from the bound space'],
      model: [`${CHAT}/app-fields.test.ts`, 'model'],
      modelSettings: [`${CHAT}/behaviour.test.ts`, 'modelSettings'],
      prices: [`${CHAT}/behaviour.test.ts`, 'prices'],
      instructions: [`${CHAT}/behaviour.test.ts`, 'instructions'],
      sensitiveWords: [`${CHAT}/behaviour.test.ts`, 'in an answer, even across two deltas, lead to its replacement'],
      openingStatement: [`${CHAT}/service.test.ts`, 'with name, inputs and introduction'],
      suggestedQuestions: [`${CHAT}/dify-client.test.ts`, 'reads the parameters of the application'],
      suggestedQuestionsAfterAnswer: [
        `${CHAT}/service.test.ts`,
        'offer no suggested questions unless the application enables them',
      ],
      retrieverResource: [`${CHAT}/app-fields.test.ts`, 'retrieverResource'],
      maxConcurrentRequests: [`${CHAT}/turns.test.ts`, 'an application beyond maxConcurrentRequests'],
      userInputForm: [`${CHAT}/service.test.ts`, 'demands a required input although it has a default'],
      conversationVariables: [`${CHAT}/variables.test.ts`, 'start with their defaults'],
      uploadStatus: [`${CHAT}/clients.test.ts`, 'or 201 if the application says so'],
      vision: [`${CHAT}/files.test.ts`, 'need vision for an image'],
      documents: [`${CHAT}/documents.test.ts`, 'names what the application takes, if it takes no documents'],
      speechToText: [`${CHAT}/audio.test.ts`, 'refuses audio if the feature is off'],
      textToSpeech: [`${CHAT}/audio.test.ts`, 'refuses a text if the feature is off'],
    },
  },
}

describe.each(Object.entries(EFFECTS))('%s', (_what, { names, seen }) => {
  test('needs a test that observes its effect, for every name', () => {
    expect(Object.keys(seen).sort()).toEqual([...names].sort())
    for (const [name, [file, words]] of Object.entries(seen))
      expect(readFileSync(join(ROOT, file), 'utf8'), `${name}: ${file}`).toContain(words)
  })
})
