/** Chat and research: answers in several steps over retrieval. */

export type { AppSession } from './chat/apps.js'
export type { OpenChatFile } from './chat/files/preview.js'
export type { ChatUpload } from './chat/files/upload.js'
export { createChatService } from './chat/operations.js'
export type { ChatStream } from './chat/turn.js'
export { createResearch, type ResearchService } from './research/operations.js'
