package cluster

// WhyMerged is a reason for leaving timings out.
const WhyMerged = whyMerged
