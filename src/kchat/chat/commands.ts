import type { Conversation } from './conversation.js'

export const HELP = `Enter sends, Ctrl-J begins another line, ↑ and ↓ call messages back.
Ctrl-C stops an answer and keeps what was said; at an empty line it leaves when pressed twice. Ctrl-D leaves at once.
PgUp and PgDn look back and forth, Ctrl-N begins a new conversation, Ctrl-O lists them.

/new            begin a new conversation
/open [N|ID]    list conversations, or open one
/image FILE     send an image with the next message; an address works too
/vars           what the conversation keeps
/thoughts       what the model thought before the last answer
/like /dislike  rate the last answer
/speak [FILE]   read the last answer aloud, or into a file; Ctrl-C ends it
/help           this text
/quit           leave`

/** Runs a line that begins with a slash. @returns `leave` when the view is to end */
export async function runCommand(line: string, conversation: Conversation): Promise<'leave' | undefined> {
  const [word = '', ...rest] = line.slice(1).trim().split(/\s+/)
  const argument = rest.join(' ')
  switch (word) {
    case 'quit':
    case 'exit':
      return 'leave'
    case 'help':
      conversation.note(HELP)
      return undefined
    case 'new':
      // messages that were sent before belong to the conversation of before
      await conversation.settled()
      conversation.reset()
      return undefined
    case 'open':
      if (argument !== '') await conversation.settled()
      await conversation.open(argument === '' ? undefined : argument)
      return undefined
    case 'vars':
      await conversation.showVariables()
      return undefined
    case 'thoughts':
      conversation.showThoughts()
      return undefined
    case 'like':
    case 'dislike':
      await conversation.rate(word)
      return undefined
    case 'image':
      if (argument === '') conversation.note('/image needs a file or an address.')
      else await conversation.attach(argument)
      return undefined
    case 'speak':
      // it goes on while other things are done
      conversation.speak(argument).catch((error: unknown) => conversation.failed(error))
      return undefined
    default:
      conversation.note(`There is no command /${word}: /help lists them. A message that begins with a slash: //…`)
      return undefined
  }
}
