import { z } from 'zod'
import { annotationRoutes } from './annotations.js'
import { applicationRoutes } from './application.js'
import { conversationsRoutes } from './conversations.js'
import { filesRoutes } from './files.js'
import { messagesRoutes } from './messages.js'
import { speechRoutes } from './speech.js'
import { variablesRoutes } from './variables.js'

/** All operations of the chat service in this version. */
export const chatRoutes = [
  ...messagesRoutes,
  ...conversationsRoutes,
  ...variablesRoutes,
  ...filesRoutes,
  ...speechRoutes,
  ...applicationRoutes,
  ...annotationRoutes,
] as const

export type ChatRoute = (typeof chatRoutes)[number]

/** The body of every error response. */
export const ChatErrorBody = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    status: z.int(),
    params: z.string().optional(),
    hint: z.string().optional(),
  })
  .meta({ id: 'ChatError' })
