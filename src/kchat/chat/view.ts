import { render } from 'ink'
import { createElement as h } from 'react'
import { ttyLine } from '../../cli/terminal.js'
import { frameStream, writeControls, writeErr } from '../../cli/terminal-writer.js'
import { EXIT } from '../../contract/errors.js'
import type { ChatService } from '../service.js'
import { Conversation } from './conversation.js'
import { edited } from './editor-program.js'
import { clearFrame, inkStdin, inkStdout } from './frame.js'
import { ChatView } from './screen.js'
import { Transcript } from './transcript.js'
import { Typing } from './typing.js'

const PASTES_ARE_MARKED = '\u001b[?2004h'
const AS_BEFORE = '\u001b[?2004l\u001b[?25h'
/** exit code of shells for SIGHUP */
const HANGUP = 129

/** Why the view ends: it exits, or a text is edited elsewhere. */
type End = { exit: number } | { text: string }

/**
 * Runs the conversation view: the transcript stays in the terminal's scrollback, the input line is below it.
 *
 * @returns the exit code
 */
export async function showChat(
  chat: ChatService,
  start: { inputs: Record<string, string>; conversation: string | undefined },
): Promise<number> {
  const conversation = new Conversation(chat, start.inputs)
  await conversation.begin(start.conversation)
  const restore = () => writeControls(process.stdout, AS_BEFORE)
  const onTerm = () => process.exit(EXIT.terminated)
  const onHangup = () => process.exit(HANGUP)
  process.once('exit', restore)
  process.once('SIGTERM', onTerm)
  process.once('SIGHUP', onHangup)
  const { say } = chat
  chat.say = (remark) => conversation.note(remark)
  const exit = await untilLeft(conversation)
  conversation.hush()
  process.off('exit', restore)
  process.off('SIGTERM', onTerm)
  process.off('SIGHUP', onHangup)
  chat.say = say
  process.stdin.unref()
  const { conversationId } = conversation.state()
  if (conversationId !== undefined)
    writeErr(`\`kchat chat --conversation ${ttyLine(conversationId)}\` continues this conversation.\n`)
  return exit
}

/** Shows the view, and editors in between, until the user exits. */
async function untilLeft(conversation: Conversation): Promise<number> {
  const transcript = new Transcript()
  let end: (how: End) => void = () => undefined
  const typing = new Typing(conversation, { leave: (exit) => end({ exit }), edit: (text) => end({ text }) })
  for (;;) {
    const how = await new Promise<End>((resolve) => {
      let how: End = { exit: EXIT.ok }
      const hide = shown(conversation, typing, transcript, () => resolve(how))
      end = (asked) => {
        how = asked
        hide('exit' in asked)
      }
    })
    if ('exit' in how) return how.exit
    // The editor gets all input from here on.
    process.stdin.pause()
    await edited(how.text).then(
      (text) => typing.put(text),
      (error: unknown) => {
        typing.put(how.text)
        conversation.failed(error)
      },
    )
  }
}

/** Draws the view. @returns a function that removes it, for good or for a while */
function shown(
  conversation: Conversation,
  typing: Typing,
  transcript: Transcript,
  onEnd: () => void,
): (isForGood: boolean) => void {
  // Discards pending input: a terminal's replies to another program are not typed text.
  process.stdin.read()
  // Ink enables raw mode only after its first frame; keys typed before would be echoed.
  process.stdin.setRawMode(true)
  writeControls(process.stdout, PASTES_ARE_MARKED)
  const stopClearing = clearFrame(process.stdout)
  const view = (left: 'no' | 'while' | 'ever') => h(ChatView, { conversation, typing, transcript, left })
  const app = render(view('no'), {
    stdin: inkStdin(process.stdin),
    stdout: inkStdout(frameStream(process.stdout)),
    exitOnCtrlC: false,
    patchConsole: false,
  })
  void app.waitUntilExit().then(() => {
    stopClearing()
    transcript.forget()
    writeControls(process.stdout, AS_BEFORE)
    onEnd()
  })
  let isHidden = false
  return (isForGood) => {
    if (isHidden) return
    isHidden = true
    app.rerender(view(isForGood ? 'ever' : 'while'))
    app.unmount()
  }
}
