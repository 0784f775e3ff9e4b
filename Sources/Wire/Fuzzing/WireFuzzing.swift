/// Doors for a fuzzer to everything here that reads bytes from outside. Whatever they are, it returns; a trap is a finding.
package enum WireFuzzing {
    /// A binary message: a frame, or a bundle of them.
    package static func readFrames(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { message in
            if message.first == FrameKind.bundle.rawValue {
                var sum = 2
                do throws(FrameError) {
                    try Bundle.forEachFrame(in: message) { frame in
                        sum += 2 + frame.count
                        readFrame(frame)
                    }
                } catch {
                    precondition(sum == 2, "nothing of a malformed bundle is handed over")
                    return
                }
                precondition(sum == message.count, "the frames of a bundle are all of it")
            } else {
                readFrame(message)
            }
        }
    }

    private static func readFrame(_ frame: UnsafeRawBufferPointer) {
        guard let header = try? FrameHeader(parsing: frame) else { return }
        precondition(header.bytes.elementsEqual(frame.prefix(ProtocolLimits.frameHeaderBytes)), "a header comes out as it went in")
    }

    /// A text message from a client.
    package static func readRequest(_ text: [UInt8]) {
        let incoming = IncomingRequest(parsing: text)
        if let frequent = FrequentRequestReader.request(in: text) {
            let same = IncomingRequest(parsingAny: text)
            precondition(frequent.id == same.id && frequent.content == same.content, "both ways to read it find the same: \(incoming)")
        }
        guard case .success(let request) = incoming.content else { return }
        let again = IncomingRequest(parsing: OutgoingRequest(request, id: incoming.id).bytes)
        guard case .success(request) = again.content, again.id == incoming.id else {
            preconditionFailure("a request that was read and written is another: \(request)")
        }
    }

    /// A text message from the gateway.
    package static func readServerMessage(_ text: [UInt8]) {
        guard case .event(let event, let seq) = try? ServerMessage(parsing: text) else { return }
        guard case .event(event, seq) = try? ServerMessage(parsing: EncodedEvent(event).bytes(seq: seq)) else {
            preconditionFailure("an event that was read and written is another: \(event)")
        }
    }

    package static func readJSON(_ text: [UInt8]) {
        guard let value = try? JSON.decode(JSONTree.self, from: text, names: .asDeclared) else { return }
        guard let written = try? JSON.encode(value, names: .asDeclared) else { preconditionFailure("what was read cannot be written") }
        guard let again = try? JSON.decode(JSONTree.self, from: written, names: .asDeclared), again == value else {
            preconditionFailure("what was written does not read the same")
        }
    }
}
