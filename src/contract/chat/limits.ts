/** Numbers of the chat service. Free of zod. */
export const CHAT_LIMITS = {
  appName: 160,
  appDescription: 2000,
  spacesPerApp: 20,
  appsPerTenant: 1000,
  keysPerApp: 100,
  suggestedQuestions: 20,
  /** of texts that an application shows */
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
  /** gateways write a whole conversation into one */
  query: 100_000,
  /** of annotations and remarks */
  longText: 16_000,
  page: { default: 20, max: 100 },
  feedbacksPage: { default: 20, max: 101 },
  conversationName: 255,
  variableName: 255,
  conversationVariables: 50,
  variableDescription: 500,
  /** of a value as text */
  variableValue: 10_000,
  /** of one image; the documents say it in MB */
  imageBytes: 10 * 1024 * 1024,
  /** images of one message, whatever its application allows, and their bytes together */
  imagesPerMessage: 10,
  messageImageBytes: 20 * 1024 * 1024,
  imageUrl: 2048,
  /** uploads that no message has, of one end user of an application, and their bytes of all its end users */
  unusedFilesPerUser: 100,
  unusedBytesPerApp: 1024 * 1024 * 1024,
  /** longer names are cut */
  filename: 200,
  audioBytes: 15 * 1024 * 1024,
  voice: 100,
  /** of a text that is read aloud */
  speechText: 10_000,
} as const
