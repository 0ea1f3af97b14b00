/** Limits of the chat service. Free of zod. */
export const CHAT_LIMITS = {
  appName: 160,
  appDescription: 2000,
  spacesPerApp: 20,
  appsPerTenant: 1000,
  keysPerApp: 100,
  suggestedQuestions: 20,
  /** Texts that an application shows. */
  text: 4000,
  inputControls: 50,
  tags: 20,
  answerTokens: 32_768,
  decimal: 20,
  sensitiveWord: 100,
  sensitiveWords: 1000,
  annotationsPerApp: 5000,
  concurrentRequests: 10_000,
  user: 1000,
  /** Gateways put a complete conversation into one query. */
  query: 100_000,
  /** Annotations and comments. */
  longText: 16_000,
  page: { default: 20, max: 100 },
  feedbacksPage: { default: 20, max: 101 },
  conversationName: 255,
  variableName: 255,
  conversationVariables: 50,
  variableDescription: 500,
  /** A value as text. */
  variableValue: 10_000,
  /** One image; the documents give it in MB. */
  imageBytes: 10 * 1024 * 1024,
  /** Images of one message, whatever its application allows, and their total size in bytes. */
  imagesPerMessage: 10,
  messageImageBytes: 20 * 1024 * 1024,
  imageUrl: 2048,
  /** One document; `/parameters` states it in MB. */
  documentBytes: 15 * 1024 * 1024,
  /** Documents of one message, whatever its application allows. */
  documentsPerMessage: 10,
  /** A larger document belongs in a space. */
  passagesPerDocument: 3000,
  /** The newest documents of a conversation; earlier ones are not searched. */
  documentsPerConversation: 20,
  /** Uploads without a message: count per end user of an application, and total bytes of all its end users. */
  unusedFilesPerUser: 100,
  unusedBytesPerApp: 1024 * 1024 * 1024,
  /** Longer names are truncated. */
  filename: 200,
  audioBytes: 15 * 1024 * 1024,
  voice: 100,
  /** A text to read aloud. */
  speechText: 10_000,
} as const
