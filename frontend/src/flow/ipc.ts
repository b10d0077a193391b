/** TensorBoard's message channel to a framed plugin (its `experimental` plugin library, version 1). */

interface Message {
  type: string;
  id: number;
  payload: unknown;
  error: string | null;
  isReply: boolean;
}

export interface Host {
  listen(type: string, heard: (payload: unknown) => void): void;
  ask(type: string, payload?: unknown): Promise<unknown>;
}

/** Opens the channel; null outside a frame, where nobody would answer. */
export function connect(frame: Window): Host | null {
  if (frame.parent === frame) return null;
  const { port1: port, port2 } = new MessageChannel();
  const listeners = new Map<string, (payload: unknown) => void>();
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let asked = 0;

  const send = (message: Message): void => port.postMessage(JSON.stringify(message));

  port.addEventListener("message", (event: MessageEvent<string>) => {
    const message = JSON.parse(event.data) as Message;
    if (message.isReply) {
      const wait = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) wait?.reject(new Error(message.error));
      else wait?.resolve(message.payload);
      return;
    }
    listeners.get(message.type)?.(message.payload);
    send({ ...message, payload: null, error: null, isReply: true });
  });
  port.start();
  frame.parent.postMessage("experimental.bootstrap", "*", [port2]);

  return {
    listen: (type, heard) => void listeners.set(type, heard),
    ask: (type, payload = null) => {
      const id = asked++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ type, id, payload, error: null, isReply: false });
      });
    },
  };
}
