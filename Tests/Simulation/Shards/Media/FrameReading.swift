internal import Engine
internal import Wire

/// Frame parsing on arrays.
enum FrameReading {
    static func header(of frame: [UInt8]) -> Result<FrameHeader, FrameError> {
        frame.withUnsafeBytes { bytes in
            do throws(FrameError) {
                return .success(try FrameHeader(parsing: bytes))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The header of a valid frame, including flag 0x08.
    static func uncheckedHeader(of frame: [UInt8]) -> FrameHeader {
        frame.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count >= ProtocolLimits.frameHeaderBytes else {
                preconditionFailure("frame is shorter than its header")
            }
            return FrameHeader(unchecked: base)
        }
    }

    /// The frames of a bundle.
    static func frames(in bundle: [UInt8]) -> Result<[[UInt8]], FrameError> {
        bundle.withUnsafeBytes { bytes in
            var frames: [[UInt8]] = []
            do throws(FrameError) {
                try Bundle.forEachFrame(in: bytes) { frames.append(Array($0)) }
                return .success(frames)
            } catch {
                return .failure(error)
            }
        }
    }
}
