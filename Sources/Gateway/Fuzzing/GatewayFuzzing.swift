internal import Engine
internal import HTTPServer
internal import Identity
internal import Wire

/// Doors for a fuzzer to what the shell reads itself. Whatever it is, it returns; a trap is a finding.
package enum GatewayFuzzing {
    /// Where a token may stand: three texts, one after another, each up to a byte that is 0.
    package static func findToken(_ bytes: [UInt8]) {
        let texts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        let subprotocols = texts.count > 1 ? texts[1].split(separator: ",") : []
        let query = texts.count > 2 ? texts[2] : nil
        for authorization in [texts.first, nil] {
            guard let token = try? RequestToken.extract(authorization: authorization, subprotocols: subprotocols, query: query) else { continue }
            precondition(
                [authorization ?? "", texts.count > 1 ? texts[1] : "", query ?? ""].contains { $0.contains(token) || token.isEmpty },
                "a token is one that was given")
        }
    }

    /// A byte is something done to a trunk: a frame put in, taken out, or left for later; against a plain list.
    package static func carry(_ bytes: [UInt8]) {
        var (waiting, batch) = (TrunkBatch(), TrunkBatch())
        var (waitingModel, model): ([Carried], [Carried]) = ([], [])
        for (place, byte) in bytes.prefix(400).enumerated() {
            let publisher = ParticipantHandle(shard: UInt16(byte & 3), slot: UInt32(byte), generation: UInt16(place))
            switch byte >> 6 {
            case 0, 1:
                let frame = [UInt8](repeating: byte, count: Int(byte) * 6)
                if frame.withUnsafeBytes({ waiting.append($0, from: publisher, limit: 20_000) }) {
                    waitingModel.append(Carried(frame: frame, publisher: publisher))
                }
            case 2:
                if batch.isEmpty { swap(&batch, &waiting) } else { batch.append(contentsOf: waiting) }
                waiting.removeAll()
                model += waitingModel
                waitingModel = []
            default:
                let wanted = UInt16(byte & 3)
                var taken: [Carried] = []
                batch.take { frame, publisher in
                    guard publisher.shard == wanted else { return false }
                    taken.append(Carried(frame: Array(frame), publisher: publisher))
                    return true
                }
                precondition(taken == model.filter { $0.publisher.shard == wanted }, "frames come out once, in order, as they went in")
                model.removeAll { $0.publisher.shard == wanted }
            }
        }
    }

    private struct Carried: Equatable {
        var frame: [UInt8]
        var publisher: ParticipantHandle
    }
}
