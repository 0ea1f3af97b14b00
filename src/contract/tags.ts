import { annotationRoutes } from './chat/annotations.js'
import { applicationRoutes } from './chat/application.js'
import { chatAppRoutes } from './chat/apps.js'
import { conversationsRoutes } from './chat/conversations.js'
import { filesRoutes } from './chat/files.js'
import { messagesRoutes } from './chat/messages.js'
import { speechRoutes } from './chat/speech.js'
import { variablesRoutes } from './chat/variables.js'
import { bundlesRoutes } from './gateway/bundles.js'
import { changesRoutes } from './gateway/changes.js'
import { conflictsRoutes } from './gateway/conflicts.js'
import { documentsRoutes } from './gateway/documents.js'
import { explainRoutes } from './gateway/explain.js'
import { fsRoutes } from './gateway/fs.js'
import { graphRoutes } from './gateway/graph.js'
import { integrityRoutes } from './gateway/integrity.js'
import { jobsRoutes } from './gateway/jobs.js'
import { localFilesRoutes } from './gateway/local-files.js'
import { qualityRoutes } from './gateway/quality.js'
import { queriesRoutes } from './gateway/queries.js'
import { researchRoutes } from './gateway/research.js'
import { retentionRoutes } from './gateway/retention.js'
import { searchRoutes } from './gateway/search.js'
import { severalSpacesRoutes } from './gateway/several-spaces.js'
import { snapshotsRoutes } from './gateway/snapshots.js'
import { sourcesRoutes } from './gateway/sources.js'
import { spacesRoutes } from './gateway/spaces.js'
import { systemRoutes } from './gateway/system.js'
import type { RouteDefinition } from './route.js'

/** A group of operations in the API description. */
export interface OperationTag {
  name: string
  description: string
  routes: readonly RouteDefinition[]
}

export const TAGS: readonly OperationTag[] = [
  {
    name: 'spaces',
    description: 'Knowledge spaces: create, update, follow and delete.',
    routes: [...spacesRoutes, ...changesRoutes],
  },
  { name: 'documents', description: 'Documents of a space and the data derived from them.', routes: documentsRoutes },
  { name: 'jobs', description: 'Background jobs that compile uploaded documents.', routes: jobsRoutes },
  {
    name: 'queries',
    description: 'Questions, answers with evidence, and explanations of results.',
    routes: [...queriesRoutes, ...searchRoutes, ...severalSpacesRoutes, ...explainRoutes],
  },
  {
    name: 'quality',
    description: 'Golden questions, failed queries, reviews, bad cases, and contradictions between documents.',
    routes: [...qualityRoutes, ...conflictsRoutes],
  },
  { name: 'sources', description: 'External sources of documents.', routes: sourcesRoutes },
  { name: 'graph', description: 'Entities, relations, topics and communities.', routes: graphRoutes },
  { name: 'research', description: 'Research tasks, which run in the background.', routes: researchRoutes },
  { name: 'integrity', description: 'Consistency checks of bytes, passages and indexes.', routes: integrityRoutes },
  {
    name: 'system',
    description: 'Health of the service, status of the daemon, and this API description.',
    routes: systemRoutes,
  },
  { name: 'retention', description: 'Retention of stored data.', routes: retentionRoutes },
  { name: 'files', description: 'A space as files and folders.', routes: fsRoutes },
  { name: 'snapshots', description: 'Frozen workspaces of agents, and their replay.', routes: snapshotsRoutes },
  { name: 'bundles', description: 'Export and import of spaces as one file.', routes: bundlesRoutes },
  { name: 'local-files', description: 'Files and watched folders of the daemon’s machine.', routes: localFilesRoutes },
  { name: 'chat-applications', description: 'Chat applications over spaces, and their keys.', routes: chatAppRoutes },
  { name: 'chat-messages', description: 'Messages of a chat application.', routes: messagesRoutes },
  {
    name: 'chat-conversations',
    description: 'Conversations of an end user, and their variables.',
    routes: [...conversationsRoutes, ...variablesRoutes],
  },
  {
    name: 'chat-files',
    description: 'Files in messages, and speech.',
    routes: [...filesRoutes, ...speechRoutes],
  },
  {
    name: 'chat-application',
    description: 'Properties and features of the application of a key.',
    routes: applicationRoutes,
  },
  { name: 'chat-annotations', description: 'Questions with fixed answers.', routes: annotationRoutes },
]
