/// Where the two chunks that matter lie in a RIFF file (Multimedia Programming Interface and Data Specifications 1.0).
struct WAVChunks {
    let format: Range<Int>
    let data: Range<Int>

    /// Data sizes from here on stand for "unknown": programs that write to a pipe put 2 or 4 GiB less a little.
    private static let leastUnknownSize = 0x7FFF_0000

    init(of bytes: [UInt8]) throws(WAVError) {
        let file = bytes[...]
        guard file.starts(withASCII: "RIFF") || file.starts(withASCII: "RF64"), file.starts(withASCII: "WAVE", at: 8) else {
            throw .notWAV
        }
        var format: Range<Int>?
        var next = 12
        while let announced = file.littleEndian(at: next + 4, as: UInt32.self).map(Int.init) {
            let start = next + 8
            let present = file.count - start
            if file.starts(withASCII: "data", at: next) {
                guard let format else { throw .formatMissing }
                let isUnknown = announced == 0 || announced >= Self.leastUnknownSize
                guard isUnknown || announced <= present else {
                    throw .truncated(chunk: "data", announced: announced, present: present)
                }
                self.format = format
                self.data = start..<(start + (isUnknown ? present : announced))
                return
            }
            guard announced <= present else {
                let name = String(decoding: file[next..<(next + 4)], as: UTF8.self)
                throw .truncated(chunk: name, announced: announced, present: present)
            }
            if file.starts(withASCII: "fmt ", at: next) { format = start..<(start + announced) }
            // Chunks begin at even places.
            next = start + announced + announced % 2
        }
        throw format == nil ? .formatMissing : .dataMissing
    }
}
