import { Register } from './history.js'

/** What the stand-in of a model answers to a question. */
export function answerTo(query: string): string {
  return Array.from({ length: WORDS }, (_, place) => `${query}-${place}`).join(' ')
}
const WORDS = 6

/** A message that was answered. */
export interface SaidMessage {
  id: string
  query: string
  /** it was stopped: the answer is a beginning of the whole, and at least this */
  atLeast: string | undefined
  rating: Register<'like' | 'dislike' | undefined>
}

/** A conversation of one end user, who does one thing after the other. */
export class ConversationModel {
  readonly id: string
  readonly isThere = new Register(true)
  readonly name = new Register<string | undefined>(undefined)
  readonly messages: SaidMessage[] = []

  constructor(id: string) {
    this.id = id
  }
}

/** An end user of an application, of whom one client knows everything. */
export class EndUserModel {
  readonly name: string
  readonly conversations = new Map<string, ConversationModel>()
  /** questions of which nobody knows what became: sent into a conversation, or into a new one (undefined) */
  readonly unsure = new Map<string, string | undefined>()

  constructor(name: string) {
    this.name = name
  }
}
