package import Wire

/// Generates identifiers: a LiveKit prefix and 12 characters without look-alikes (shortuuid's alphabet: no 0, O, 1, I, l).
package struct IdentifierGenerator: Sendable {
    package static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    /// 57¹² values: a collision among a million has a chance of about one in a billion.
    package static let suffixLength = 12

    private var numbers: SplitMix64

    package init(seed: UInt64) {
        numbers = SplitMix64(seed: seed)
    }

    package mutating func room() -> RoomSID { RoomSID(text: name("RM_")) }

    package mutating func participant() -> ParticipantSID { ParticipantSID(text: name("PA_")) }

    /// `A` is audio, `M` a microphone. LiveKit's agents publish a microphone too.
    package mutating func track() -> TrackSID { TrackSID(text: name("TR_AM")) }

    package mutating func recording() -> RecordingID { RecordingID(text: name("RC_")) }

    package mutating func text() -> String { name("TX_") }

    package mutating func procedureCall() -> String { name("RPC_") }

    package mutating func call() -> CallID { CallID(text: name("CA_")) }

    package mutating func job() -> JobID { JobID(text: name("JB_")) }

    package mutating func device() -> DeviceID { DeviceID(text: name("DV_")) }

    private mutating func name(_ prefix: String) -> String {
        var name = prefix
        for _ in 0..<Self.suffixLength {
            name.unicodeScalars.append(Unicode.Scalar(Self.alphabet[numbers.below(Self.alphabet.count)]))
        }
        return name
    }
}

/// Allocates track aliases, 1…65535.
///
/// Counts up instead of reusing the lowest free alias: a late frame or subscriber must not meet a new track under an old alias.
struct TrackAliasAllocator: Sendable {
    /// The alias that was allocated last; 0 before the first.
    private(set) var last: UInt16 = 0
    private var taken: Set<TrackAlias> = []

    /// - Parameter last: the alias that another allocator of the same room allocated last.
    init(after last: UInt16 = 0) {
        self.last = last
    }

    /// - Returns: the next free alias, or nil if all 65,535 are in use.
    mutating func allocate() -> TrackAlias? {
        guard taken.count < Int(UInt16.max) else { return nil }
        repeat {
            last = last == .max ? 1 : last + 1
        } while taken.contains(TrackAlias(last))
        taken.insert(TrackAlias(last))
        return TrackAlias(last)
    }

    /// Marks an alias that was allocated before as used.
    mutating func take(_ alias: TrackAlias) {
        taken.insert(alias)
    }

    mutating func release(_ alias: TrackAlias) {
        taken.remove(alias)
        // Empty rooms release their memory.
        if taken.isEmpty { taken = [] }
    }
}

/// Identifies a participant's connection to the shell: the shard that serves it, and its slot there.
///
/// Eight bytes, copied trivially. The generation prevents reuse for another participant, so messages between threads may name
/// participants that have left.
package struct ParticipantHandle: Hashable, Sendable {
    package let shard: UInt16
    package let generation: UInt16
    package let slot: UInt32

    package init(shard: UInt16, slot: UInt32, generation: UInt16) {
        self.shard = shard
        self.slot = slot
        self.generation = generation
    }
}
