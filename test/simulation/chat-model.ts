import { Register } from './history.js'

/** The answer of the fake model to a question. */
export function answerTo(query: string): string {
  return Array.from({ length: WORDS }, (_, place) => `${query}-${place}`).join(' ')
}
const WORDS = 6

/** A message with an answer. */
export interface SaidMessage {
  id: string
  query: string
  /** it was stopped: the answer is a prefix of the complete one, and at least this */
  atLeast: string | undefined
  rating: Register<'like' | 'dislike' | undefined>
}

/** A conversation of one end user, who acts sequentially. */
export class ConversationModel {
  readonly id: string
  readonly isThere = new Register(true)
  readonly name = new Register<string | undefined>(undefined)
  readonly messages: SaidMessage[] = []

  constructor(id: string) {
    this.id = id
  }
}

/** An end user of an application, used by one client only. */
export class EndUserModel {
  readonly name: string
  readonly conversations = new Map<string, ConversationModel>()
  /** questions with an unknown outcome: sent into a conversation, or into a new one (undefined) */
  readonly unsure = new Map<string, string | undefined>()

  constructor(name: string) {
    this.name = name
  }
}
