extension OpusPacket {
    /// The rule of RFC 6716 section 3.4 that a packet breaks.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// R1: a packet has at least one byte.
        case empty
        /// R2: a frame has at most 1,275 bytes.
        case frameTooLong
        /// R3 and R6: frames of equal length do not divide the bytes that are there.
        case unevenFrames
        /// R5: no frame at all, or more than 120 ms of them.
        case frameCount
        /// R4, R6 and R7: a length or the padding reaches past the end.
        case truncated

        public var description: String {
            switch self {
            case .empty: "it is empty (R1)."
            case .frameTooLong: "a frame is longer than 1275 bytes (R2)."
            case .unevenFrames: "its frames should be of equal length, but the bytes do not divide (R3, R6)."
            case .frameCount: "it holds no frame, or more than 120 ms (R5)."
            case .truncated: "a length or its padding reaches past its end (R4, R6, R7)."
            }
        }
    }
}
