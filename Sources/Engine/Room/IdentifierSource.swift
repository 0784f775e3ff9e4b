package import Wire

/// Makes the names that a room gives out: a prefix as LiveKit has it, and 12 characters that nobody mistakes for
/// another when reading them aloud (shortuuid's alphabet: no 0, O, 1, I, l).
package struct IdentifierGenerator: Sendable {
    package static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    /// 57¹² names: two of a million are alike once in a billion rooms.
    package static let suffixLength = 12

    private var numbers: SplitMix64

    package init(seed: UInt64) {
        numbers = SplitMix64(seed: seed)
    }

    package mutating func room() -> RoomSID { RoomSID(text: name("RM_")) }

    package mutating func participant() -> ParticipantSID { ParticipantSID(text: name("PA_")) }

    /// `A` is audio, `M` a microphone. An assistant's voice is its microphone, as LiveKit's agents have it.
    package mutating func track() -> TrackSID { TrackSID(text: name("TR_AM")) }

    package mutating func recording() -> RecordingID { RecordingID(text: name("RC_")) }

    package mutating func text() -> String { name("TX_") }

    package mutating func procedureCall() -> String { name("RPC_") }

    package mutating func call() -> CallID { CallID(text: name("CA_")) }

    package mutating func device() -> DeviceID { DeviceID(text: name("DV_")) }

    private mutating func name(_ prefix: String) -> String {
        var name = prefix
        for _ in 0..<Self.suffixLength {
            name.unicodeScalars.append(Unicode.Scalar(Self.alphabet[numbers.below(Self.alphabet.count)]))
        }
        return name
    }
}
