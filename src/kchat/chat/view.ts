import { render } from 'ink'
import { createElement as h } from 'react'
import { ttyLine } from '../../cli/terminal.js'
import { createFrameStream, writeControls, writeErr } from '../../cli/terminal-writer.js'
import { EXIT } from '../../contract/errors.js'
import type { ChatService } from '../service.js'
import { Conversation } from './conversation.js'
import { editText } from './editor-program.js'
import { createInkStdin, createInkStdout } from './frame.js'
import { InputController } from './input-controller.js'
import { ChatView, type ViewVisibility } from './screen.js'
import { ChatTranscript } from './transcript.js'

const ENABLE_BRACKETED_PASTE = '\u001b[?2004h'
const RESTORE_TERMINAL = '\u001b[?2004l\u001b[?25h'
/** exit code of shells for SIGHUP */
const HANGUP_EXIT = 129

/** How the view ends: with an exit code, or with a text to edit elsewhere. */
type ViewEnd = { exitCode: number } | { text: string }

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
  await conversation.start(start.conversation)
  const restore = () => writeControls(process.stdout, RESTORE_TERMINAL)
  const onTerm = () => process.exit(EXIT.terminated)
  const onHangup = () => process.exit(HANGUP_EXIT)
  process.once('exit', restore)
  process.once('SIGTERM', onTerm)
  process.once('SIGHUP', onHangup)
  const { notify } = chat
  chat.notify = (text) => conversation.note(text)
  const exitCode = await runUntilExit(conversation)
  conversation.stopSpeech()
  process.off('exit', restore)
  process.off('SIGTERM', onTerm)
  process.off('SIGHUP', onHangup)
  chat.notify = notify
  process.stdin.unref()
  const { conversationId } = conversation.getState()
  if (conversationId !== undefined)
    writeErr(`\`kchat chat --conversation ${ttyLine(conversationId)}\` continues this conversation.\n`)
  return exitCode
}

/** Shows the view, and editors in between, until the user exits. */
async function runUntilExit(conversation: Conversation): Promise<number> {
  const transcript = new ChatTranscript()
  let endView: (viewEnd: ViewEnd) => void = () => undefined
  const input = new InputController(conversation, {
    leave: (exitCode) => endView({ exitCode }),
    openEditor: (text) => endView({ text }),
  })
  for (;;) {
    const viewEnd = await new Promise<ViewEnd>((resolve) => {
      let end: ViewEnd = { exitCode: EXIT.ok }
      const hide = drawView(conversation, input, transcript, () => resolve(end))
      endView = (request) => {
        end = request
        hide('exitCode' in request ? 'ended' : 'suspended')
      }
    })
    if ('exitCode' in viewEnd) return viewEnd.exitCode
    // The editor gets all input from here on.
    process.stdin.pause()
    await editText(viewEnd.text).then(
      (text) => input.setText(text),
      (error: unknown) => {
        input.setText(viewEnd.text)
        conversation.showError(error)
      },
    )
  }
}

/** Draws the view. @returns a function that removes it */
function drawView(
  conversation: Conversation,
  input: InputController,
  transcript: ChatTranscript,
  onEnd: () => void,
): (reason: 'suspended' | 'ended') => void {
  // Discards pending input: a terminal's replies to another program are not typed text.
  process.stdin.read()
  // Ink enables raw mode only after its first frame; keys typed before would be echoed.
  process.stdin.setRawMode(true)
  writeControls(process.stdout, ENABLE_BRACKETED_PASTE)
  const view = (visibility: ViewVisibility) => h(ChatView, { conversation, input, transcript, visibility })
  const app = render(view('shown'), {
    stdin: createInkStdin(process.stdin),
    stdout: createInkStdout(createFrameStream(process.stdout)),
    exitOnCtrlC: false,
    patchConsole: false,
  })
  void app.waitUntilExit().then(() => {
    transcript.clear()
    writeControls(process.stdout, RESTORE_TERMINAL)
    onEnd()
  })
  let isHidden = false
  return (reason) => {
    if (isHidden) return
    isHidden = true
    app.rerender(view(reason))
    app.unmount()
  }
}
