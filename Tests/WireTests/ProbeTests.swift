import Testing
import Wire
@Test func probe() { #expect(ProtocolLimits.frameBytesMax == 1_500) }
