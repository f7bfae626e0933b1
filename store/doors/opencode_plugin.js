// Written by `memoranda connect opencode`; `memoranda disconnect opencode` removes it.
// Tells Memoranda what happens in a session, and hands the model what it answers. It never fails a session.
import { spawn } from "node:child_process"

const COMMAND = ["memoranda", "hook", "opencode"]
const LIMIT = 5000 // milliseconds

function tell(event) {
  return new Promise((done) => {
    let said = ""
    let child
    try {
      const [program, ...rest] = COMMAND
      child = spawn(program, rest, { cwd: event.cwd, stdio: ["pipe", "pipe", "ignore"] })
    } catch {
      return done("")
    }
    const timer = setTimeout(() => child.kill(), LIMIT)
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (said += data))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        done(JSON.parse(said).context || "")
      } catch {
        done("")
      }
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Memoranda = async ({ client, directory }) => {
  const started = new Map() // session → what its start was answered
  const starts = new Map() // session → how often it was told of
  const asked = new Map() // session → what its last prompt was answered
  const inner = new Map() // session → whether another session started it
  const cwd = directory

  async function isInner(session) {
    if (!inner.has(session)) {
      let parent
      try {
        parent = (await client.session.get({ path: { id: session } })).data?.parentID
      } catch {}
      inner.set(session, Boolean(parent))
    }
    return inner.get(session)
  }

  async function start(session) {
    if (!started.has(session)) {
      const number = (starts.get(session) || 0) + 1
      starts.set(session, number)
      const id = `${Math.round(performance.timeOrigin)}-${number}` // another for each process, the same if we are in it twice
      started.set(session, tell({ event: "start", session_id: session, cwd, id }))
    }
    return started.get(session)
  }

  async function lastReply(session) {
    try {
      const messages = (await client.session.messages({ path: { id: session } })).data || []
      const last = messages.filter((one) => one.info.role === "assistant").at(-1)
      if (!last) return {}
      const text = last.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      return { id: last.info.id, reply: text.join("\n"), tokens: last.info.tokens }
    } catch {
      return {}
    }
  }

  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      if (!session || (await isInner(session))) return
      await start(session)
      const parts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = parts.map((part) => part.text).join("\n")
      const id = output.message?.id || input.messageID
      asked.set(session, await tell({ event: "prompt", session_id: session, cwd, id, prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session || (await isInner(session))) return
      for (const text of [await start(session), asked.get(session)]) if (text) output.system.push(text)
    },
    "tool.execute.after": async (input, output) => {
      const { tool, sessionID, callID, args } = input
      if (!["bash", "write", "edit", "todowrite", "apply_patch"].includes(tool)) return
      await tell({
        event: "tool",
        session_id: sessionID,
        cwd,
        id: callID,
        tool_name: tool,
        tool_input: args,
        exit: output.metadata?.exit,
        inner: await isInner(sessionID),
      })
    },
    "experimental.session.compacting": async (input) => {
      const session = input.sessionID
      if (!session || (await isInner(session))) return
      await tell({ event: "compact", session_id: session, cwd, ...(await lastReply(session)) })
      started.delete(session) // what was known is cut away: tell it anew
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type !== "session.idle" || !session || (await isInner(session))) return
      await tell({ event: "stop", session_id: session, cwd, ...(await lastReply(session)) })
    },
  }
}
