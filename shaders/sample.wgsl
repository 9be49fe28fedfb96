// One token for each row of logits. Four launches: the largest logit of each piece of a row; which logits are candidates;
// the best score and the weight of each piece; and the choice.
//
// Scratch words of a row: key of the last candidate, index behind the last candidate of that key, two unused; then for
// each piece the bits of its largest logit and that one's index, its weight, its best score and that one's index.
//#include grid
//#include sample_rows
//#port logits any
//#port params any
//#port out any
//#scratch u32
//#if part=largest
//#include sample_largest
//#end
//#if part=select
//#include sample_select
//#end
//#if part=score
//#include sample_score
//#end
//#if part=choose
//#include sample_choose
//#end
