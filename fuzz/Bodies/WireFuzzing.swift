private import Wire

/// Frames, requests, events and JSON as a peer may send them.
enum WireFuzzing {
    /// A binary message: a frame or a bundle.
    static func readFrames(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { message in
            if message.first == FrameKind.bundle.rawValue {
                var sum = 2
                do throws(FrameError) {
                    try Bundle.forEachFrame(in: message) { frame in
                        sum += 2 + frame.count
                        readFrame(frame)
                    }
                } catch {
                    precondition(sum == 2, "a malformed bundle delivered a frame")
                    return
                }
                precondition(sum == message.count, "the frames of a bundle do not cover it")
            } else {
                readFrame(message)
            }
        }
    }

    private static func readFrame(_ frame: UnsafeRawBufferPointer) {
        guard let header = try? FrameHeader(parsing: frame) else { return }
        precondition(
            header.bytes.elementsEqual(frame.prefix(ProtocolLimits.frameHeaderBytes)),
            "a header does not encode to the bytes it was parsed from")
    }

    /// A text message from a client.
    static func readRequest(_ text: [UInt8]) {
        let incoming = IncomingRequest(parsing: text)
        guard case .success(let request) = incoming.content else { return }
        let again = IncomingRequest(parsing: OutgoingRequest(request, id: incoming.id).bytes)
        guard case .success(request) = again.content, again.id == incoming.id else {
            preconditionFailure("a request does not survive a round trip: \(request)")
        }
    }

    /// A text message from the gateway.
    static func readServerMessage(_ text: [UInt8]) {
        guard case .event(let event, let seq) = try? ServerMessage(parsing: text) else { return }
        guard case .event(event, seq) = try? ServerMessage(parsing: EncodedEvent(event).bytes(seq: seq)) else {
            preconditionFailure("an event does not survive a round trip: \(event)")
        }
    }

    /// The payload of an assistant's message or of its user's.
    static func readAssistantMessage(_ payload: [UInt8]) {
        // Escapes make a text up to six times as long.
        guard payload.count * 6 <= AssistantMessage.bytesMax, let message = try? AssistantMessage(parsing: payload) else { return }
        guard let written = try? message.payload() else { preconditionFailure("a parsed message cannot be sent: \(message)") }
        guard (try? AssistantMessage(parsing: Array(written.utf8))) == message else {
            preconditionFailure("an assistant's message does not survive a round trip: \(message)")
        }
    }

    /// A text message on the channel of a user or of an assistant's worker.
    static func readChannelRequest(_ text: [UInt8]) {
        let incoming = IncomingCallRequest(parsing: text)
        guard case .success(let request) = incoming.content else { return }
        let again = IncomingCallRequest(parsing: OutgoingCallRequest(request, id: incoming.id).bytes)
        guard case .success(request) = again.content, again.id == incoming.id else {
            preconditionFailure("a request on a channel does not survive a round trip: \(request)")
        }
        if case .worker(.status(let status)) = request { for turn in status.turns ?? [] { _ = turn.fault } }
    }

    static func readJSON(_ text: [UInt8]) {
        guard let value = try? JSONValue(parsing: text) else { return }
        guard let written = try? JSON.encode(value, names: .asDeclared) else { preconditionFailure("a parsed value does not encode") }
        guard (try? JSONValue(parsing: written)) == value else { preconditionFailure("an encoded value parses to another one") }
    }
}
