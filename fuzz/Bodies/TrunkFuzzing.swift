private import Engine
private import Gateway
private import Wire

/// Checks `TrunkBatch` against a plain list.
enum TrunkFuzzing {
    /// Each byte is one operation: append a frame, hand over the queued frames, or take those of one shard.
    static func carry(_ bytes: [UInt8]) {
        var (waiting, batch) = (TrunkBatch(), TrunkBatch())
        var (waitingModel, model): ([Carried], [Carried]) = ([], [])
        for (index, byte) in bytes.prefix(400).enumerated() {
            let publisher = ParticipantHandle(shard: UInt16(byte & 3), slot: UInt32(byte), generation: UInt16(index))
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
                precondition(taken == model.filter { $0.publisher.shard == wanted }, "frames must come out once, in order and unchanged")
                model.removeAll { $0.publisher.shard == wanted }
            }
        }
    }

    private struct Carried: Equatable {
        var frame: [UInt8]
        var publisher: ParticipantHandle
    }
}
